"""Tell at a process's end what torch's compile caches counted. Run by the target's python at its start; Python 3.9+.

A directory that holds this alone lies first on PYTHONPATH. It imports nothing of torch's, changes nothing that a job
sees, and runs the sitecustomize that it hides. A forked child tells nothing: it has its parent's counters.
"""

import atexit
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = "ENVDOCTOR_COUNTERS"
"""The variable that names the directory for what is told, a file a process."""
_PID = os.getpid()


def _tell() -> None:
    folder, torch = os.environ.get(FOLDER), sys.modules.get("torch")
    if not folder or torch is None or os.getpid() != _PID:
        return
    import json

    said = json.dumps(_said(torch), default=str)
    path = os.path.join(folder, str(_PID))
    with open(path + ".tmp", "w") as stream:
        stream.write(said)
    os.rename(path + ".tmp", path + ".json")


def _said(torch: object) -> "dict[str, object]":
    counters = getattr(sys.modules.get("torch._dynamo.utils"), "counters", {})
    return {
        "torch": str(getattr(torch, "__version__", "")),
        "cache": os.environ.get("TORCHINDUCTOR_CACHE_DIR", ""),
        "counters": {name: dict(counters[name]) for name in ("inductor", "aot_autograd") if name in counters},
        "aot_cache": _switch("torch._functorch.config", "enable_autograd_cache"),
        "fx_cache": _switch("torch._inductor.config", "fx_graph_cache"),
        "caches_off": _switch("torch._inductor.config", "force_disable_caches"),
    }


def _switch(module: str, name: str) -> object:
    """Return a switch of torch's; None where nobody imported its module."""
    try:
        return bool(getattr(sys.modules[module], name))
    except (KeyError, AttributeError):
        return None


def _chain() -> None:
    """Run the sitecustomize that would have run without this one, and let the path be the job's."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != HERE]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


atexit.register(_tell)
_chain()
