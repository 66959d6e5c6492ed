"""A torch of a few lines whose FX-tracing flag is kept as real ones keep it, and which traces by calling."""

SHARED = """\
import torch

_is_fx_tracing_flag = False


def is_fx_tracing():
    return _is_fx_tracing_flag


def is_fx_symbolic_tracing() -> bool:
    return _is_fx_tracing_flag and not torch.compiler.is_compiling()


class Tracer:
    def trace(self, root):
        global _is_fx_tracing_flag
        old_is_fx_tracing_flag = _is_fx_tracing_flag
        _is_fx_tracing_flag = True
        try:
            return torch.traced(root)
        finally:
            _is_fx_tracing_flag = old_is_fx_tracing_flag
"""
"""torch/fx/_symbolic_trace.py as up to 2.13, with the places in which it names the flag."""
OF_EACH_THREAD = """\
import threading

_is_fx_tracing_tls = threading.local()


def _get_is_fx_tracing():
    return getattr(_is_fx_tracing_tls, "flag", False)


def is_fx_symbolic_tracing():
    return _get_is_fx_tracing()
"""
"""As from 2.14."""
MASKING = {
    "torch/compiler/__init__.py": """\
_is_compiling_flag: bool = False


def _compile_session_context():
    global _is_compiling_flag
    _is_compiling_flag = True
""",
    "torch/_dynamo/convert_frame.py": "stack.enter_context(torch.compiler._compile_session_context())\n",
}
"""What 2.13 holds is_compiling() True by."""
_TORCH = """\
import torch.version
import torch.compiler
import torch.fx._symbolic_trace


def traced(root):
    return root()
"""
_COMPILER = "def is_compiling():\n    return False\n"


def files(version="2.11.0+cu130", tracer=SHARED, **more):
    """Return path -> text."""
    return {
        "torch/__init__.py": _TORCH,
        "torch/version.py": f"__version__ = {version!r}\n",
        "torch/compiler/__init__.py": _COMPILER,
        "torch/fx/__init__.py": "",
        "torch/fx/_symbolic_trace.py": tracer,
    } | more


def write(folder, **given):
    """Write them below a folder; return it."""
    for name, text in files(**given).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
