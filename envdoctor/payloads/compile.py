"""Compile every source below a directory that has no byte code yet, on several cores. Python 3.9+.

Run by the venv's own interpreter with -I -S: `.pth` files and start-up modules stay asleep. Prints how many sources
are done, a line each time it knows more. What does not compile is passed over, as installers do: wheels carry
templates and examples for other Pythons.
"""

import importlib.util
import os
import py_compile
import sys
import warnings
from collections.abc import Iterator

WIDTH = 4
"""Bytes of a source's number in the queue."""


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


def shared(data: bytes) -> int:
    """Return a file of these bytes whose position forked workers share: whoever is done takes the next.

    The kernel lets one at a time read at a shared position where a file was opened by its name, and not where
    memfd_create(2) gave the descriptor (FMODE_ATOMIC_POS of fs/open.c): so it is opened once more.
    """
    memory = os.memfd_create("shared")
    os.write(memory, data)
    try:
        return os.open(f"/proc/self/fd/{memory}", os.O_RDONLY)
    finally:
        os.close(memory)


def worker(found: "list[str]", queue: int, telling: int) -> None:
    """Compile what the queue gives next; a byte told is one source done. Ends once nobody listens."""
    while data := os.read(queue, WIDTH):
        source = found[int.from_bytes(data, "big")]
        try:
            compiled(source)
        except OSError as error:
            print(f"{source}: {error}", flush=True)
            return
        os.write(telling, b".")


def main(folder: str, cores: int) -> int:
    """Compile all, and print `compiled done total` as it goes; 1 if a worker died at it."""
    warnings.simplefilter("ignore")
    found = sorted(sources(folder), key=os.path.getsize, reverse=True)
    queue = shared(b"".join(number.to_bytes(WIDTH, "big") for number in range(len(found))))
    hearing, telling = os.pipe()
    for _ in range(max(1, min(cores, len(found)))):
        if os.fork() == 0:
            try:
                os.close(hearing)
                worker(found, queue, telling)
            finally:
                os._exit(0)
    os.close(telling)
    done = 0
    while told := os.read(hearing, 1 << 16):
        done += len(told)
        print("compiled", done, len(found), flush=True)
    return int(done != len(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
