"""Tell at a process's end what torch's compile caches counted. Run by the target's python at its start; Python 3.9+.

A directory that holds this alone lies first on PYTHONPATH. It imports nothing of torch's, changes nothing that a job
sees, and runs the sitecustomize that it hides. A forked child tells nothing: it has its parent's counters.

Where ENVDOCTOR_DEVICE names a GPU, that is made the current device as soon as CUDA is initialised: the call is queued
for then, as torch queues its own (_lazy_call of torch/cuda/__init__.py, 2.0 to 2.13), so that a process which does
without CUDA makes no context.
"""

import atexit
import os
import sys
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = "ENVDOCTOR_COUNTERS"
"""The variable that names the directory for what is told, a file a process."""
DEVICE = "ENVDOCTOR_DEVICE"
"""The variable that names the device to make current, `cuda:1`; on any other device nothing is to be done."""
CUDA = "torch.cuda"
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
        "devices": _devices(),
    }


def _switch(module: str, name: str) -> object:
    """Return a switch of torch's; None where nobody imported its module."""
    try:
        return bool(getattr(sys.modules[module], name))
    except (KeyError, AttributeError):
        return None


def _devices() -> object:
    """Return the GPUs that memory was taken of; None where that cannot be told."""
    cuda: Any = sys.modules.get(CUDA)
    try:
        if not cuda.is_initialized():
            return []
        every = range(cuda.device_count())
        return ["cuda:%d" % n for n in every if cuda.memory_reserved(n) or cuda.max_memory_allocated(n)]
    except Exception:
        return None


class _Finder:
    """Find torch.cuda as everybody does, once, and have the device chosen when it has been loaded."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of torch.cuda; None for anything else, which is left to the other finders."""
        if name != CUDA:
            return None
        from importlib.machinery import PathFinder

        sys.meta_path.remove(_Finder)
        spec: Any = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = _loading(spec.loader)
        return spec


def _loading(loader: Any) -> Any:
    def exec_module(module: Any) -> None:
        del loader.exec_module  # its class has the true one
        loader.exec_module(module)
        _choose(module)

    return exec_module


def _choose(cuda: Any) -> None:
    """Queue the choice for CUDA's initialisation; a torch without such a queue, or that GPU, is left alone."""
    number = int(os.environ[DEVICE].partition(":")[2])
    queue = getattr(cuda, "_lazy_call", None)
    if queue is not None:
        queue(lambda: cuda.set_device(number) if number < cuda.device_count() else None)


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
if os.environ.get(DEVICE, "").startswith("cuda:"):
    sys.meta_path.insert(0, _Finder)
_chain()
