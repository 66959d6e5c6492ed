"""Call a function of the user's for one device. Run by the target's python; Python 3.9+.

argv: `pkg.mod:function`, the device as torch names it, and the file for what was raised, in one line. The current
directory is where modules are found first, as for `python -m`, unless PYTHONSAFEPATH says otherwise. Exit status 2, and
nothing printed, if there is no such function or none that can be called so: nothing has been begun then.
"""

import importlib
import inspect
import os
import signal
import sys
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
FROZEN = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
"""Files of the import system's frames."""
NAMED = 8
"""Functions of a module that are named where another one was asked for."""


class MisnamedError(Exception):
    """What was asked for is not there, or is no function that can be called so."""


def found(entry: str) -> Any:
    """Import what is meant. Raises MisnamedError; what its module raises is let through."""
    module, _, name = entry.partition(":")
    try:
        value: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not (module + ".").startswith("%s." % error.name):
            raise
        raise MisnamedError("%s: there is no module %s, here or in the target" % (entry, error.name)) from None
    path = module
    for part in name.split("."):
        if not hasattr(value, part):
            raise MisnamedError("%s has no function %s%s" % (path, part, others(value)))
        path, value = path + "." + part, getattr(value, part)
    if not callable(value):
        raise MisnamedError("%s is no function but of type %s" % (path, type(value).__name__))
    return value


def others(module: Any) -> str:
    """Name the functions that a module has itself."""
    own = (
        [
            name
            for name, value in vars(module).items()
            if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
        ]
        if inspect.ismodule(module)
        else []
    )
    return "; it has " + ", ".join(own[:NAMED] + ["..."] * (len(own) > NAMED)) if own else ""


def takes_device(function: Any) -> bool:
    """Tell whether its first positional argument has to be given, or is called `device`."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:  # one written in C that does not tell
        return True
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    first = next((each for each in parameters if each.kind in kinds), None)
    return first is not None and (first.default is first.empty or first.name == "device")


def fits(entry: str, function: Any, *given: Any) -> None:
    """Raise MisnamedError if it cannot be called with these."""
    try:
        inspect.signature(function).bind(*given)
    except ValueError:  # one written in C that does not tell
        return
    except TypeError as error:
        what = "a device" if given else "nothing"
        raise MisnamedError("%s: it would be called with %s alone: %s" % (entry, what, error)) from None


def call(entry: str, device: str) -> None:
    """Import it, make the device current, call it, and wait for what it has set going there."""
    function = found(entry)
    wanted = takes_device(function)
    fits(entry, function, *([device] if wanted else []))
    import torch

    where = torch.device(device)
    if where.type == "cuda":
        torch.cuda.init()  # says of a build without CUDA what it is; set_device alone would lack an attribute
        torch.cuda.set_device(where)
    function(where) if wanted else function()
    if where.type == "cuda":
        torch.cuda.synchronize(where)


def told(error: BaseException) -> None:
    """Print what was raised as Python would, from the first frame that is neither ours nor of the import."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, importlib.__file__, *FROZEN):
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def main() -> None:
    """Say in one line what was raised, print the whole of it, and fail."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # who presses Ctrl-C wants no traceback of wherever it was
    if sys.path and os.path.abspath(sys.path[0]) == HERE:
        sys.path[0] = os.getcwd()
    entry, device, path = sys.argv[1:4]
    sys.argv[1:] = []
    try:
        call(entry, device)
    except MisnamedError as error:
        write(path, str(error))
        sys.exit(2)
    except Exception as error:
        write(path, f"{type(error).__name__}: {error}")
        told(error)
        sys.exit(1)


def write(path: str, line: str) -> None:
    """Leave a line for the doctor."""
    with open(path, "w", errors="backslashreplace") as stream:
        stream.write(line)


if __name__ == "__main__":
    main()
