"""Call a function of the user's for one device. Run by the target's python; Python 3.9+.

argv: `pkg.mod:function`, the device as torch names it, and the file for what was raised, in one line. The current
directory is where modules are found first, as for `python -m`, unless PYTHONSAFEPATH says otherwise.
"""

import importlib
import inspect
import os
import sys
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))


def found(entry: str) -> Any:
    """Import what is meant."""
    module, _, name = entry.partition(":")
    value: Any = importlib.import_module(module)
    for part in name.split("."):
        value = getattr(value, part)
    return value


def takes_device(function: Any) -> bool:
    """Tell whether its first positional argument has to be given, or is called `device`."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:  # one written in C that does not tell
        return True
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    first = next((each for each in parameters if each.kind in kinds), None)
    return first is not None and (first.default is first.empty or first.name == "device")


def call(entry: str, device: str) -> None:
    """Import it, make the device current, call it, and wait for what it has set going there."""
    function = found(entry)
    import torch

    where = torch.device(device)
    if where.type == "cuda":
        torch.cuda.init()  # says of a build without CUDA what it is; set_device alone would lack an attribute
        torch.cuda.set_device(where)
    function(where) if takes_device(function) else function()
    if where.type == "cuda":
        torch.cuda.synchronize(where)


def main() -> None:
    """Say in one line what was raised; Python itself prints the whole of it and fails."""
    if sys.path and os.path.abspath(sys.path[0]) == HERE:
        sys.path[0] = os.getcwd()
    entry, device, path = sys.argv[1:4]
    sys.argv[1:] = []
    try:
        call(entry, device)
    except Exception as error:
        with open(path, "w", errors="backslashreplace") as stream:
            stream.write(f"{type(error).__name__}: {error}")
        raise


if __name__ == "__main__":
    main()
