"""Compile every source below a directory that has no byte code yet, on several cores. Python 3.9+.

Run by the venv's own interpreter with -I -S: `.pth` files and start-up modules stay asleep. Prints how many sources
are done, a line each time it knows more. What does not compile is passed over, as installers do: wheels carry
templates and examples for other Pythons.
"""

import importlib.util
import multiprocessing
import os
import py_compile
import sys
import warnings
from collections.abc import Iterator

PORTION = 16


def sources(folder: str) -> Iterator[str]:
    """Yield the sources that have no byte code; links are not followed."""
    for path, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            source = os.path.join(path, name)
            if name.endswith(".py") and not os.path.lexists(importlib.util.cache_from_source(source)):
                yield source


def compiled(source: str) -> bool:
    """Compile one; tell whether that went well."""
    try:
        py_compile.compile(source, doraise=True, invalidation_mode=py_compile.PycInvalidationMode.TIMESTAMP)
    except (py_compile.PyCompileError, ValueError, RecursionError, MemoryError, OverflowError):
        return False
    return True


def main(folder: str, cores: int) -> None:
    """Compile all; print `compiled done total` as it goes."""
    warnings.simplefilter("ignore")
    found = sorted(sources(folder), key=os.path.getsize, reverse=True)
    with multiprocessing.get_context("fork").Pool(max(1, min(cores, len(found)))) as pool:
        for done, _ in enumerate(pool.imap_unordered(compiled, found, PORTION), 1):
            if done % PORTION == 0 or done == len(found):
                print("compiled", done, len(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
