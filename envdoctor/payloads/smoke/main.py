"""Prove that what training does works. Run by the target's python; prints JSON lines; Python 3.9+.

argv: the descriptors for events and for stacks, the signal that asks for all stacks, a directory for temporary files,
and the name of the module that does the work: `turns`, or `racing`. Imports torch, which is all it needs, then waits
for its order on standard input: a JSON object, which the module's `run` reads.
"""

from __future__ import annotations

import faulthandler
import importlib.util
import json
import os
import sys
import tempfile
import time
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = (HERE, os.path.join(os.path.dirname(HERE), "threads"))
"""Where modules of ours are."""


def sibling(name: str) -> Any:
    """Import a module of ours, once, under a name that nobody else has."""
    known = "envdoctor_smoke_" + name
    if known in sys.modules:
        return sys.modules[known]
    path = next(filter(os.path.exists, (os.path.join(folder, name + ".py") for folder in FOLDERS)), "")
    spec = importlib.util.spec_from_file_location(known, path)
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[known] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Import torch and tell of it, then do what is ordered."""
    events, stacks, signal = map(int, sys.argv[1:4])
    if sys.path and os.path.abspath(sys.path[0]) == HERE:
        del sys.path[0]  # what training imports must not be found here
    faulthandler.enable(file=stacks)
    faulthandler.register(signal, file=stacks, all_threads=True)
    wire = sibling("wire").Wire(events)
    os.dup2(2, 1)
    began = time.monotonic()
    wire.begin("", "torch-import")
    try:
        import torch  # noqa: F401

        build = sibling("steps").build()
        work = sibling(sys.argv[5])
    except BaseException as error:  # whatever it is, it is the answer
        wire.failed("", "torch-import", began, error)
        return
    _scratch(sys.argv[4])
    wire.passed("", "torch-import", began, build)
    order = sys.stdin.readline()
    if order:
        work.run(wire, json.loads(order))


def _scratch(folder: str) -> None:
    """Let temporary files go where they are removed with the run; where torch keeps its caches is settled by now."""
    os.environ["TMPDIR"] = tempfile.tempdir = folder


if __name__ == "__main__":
    main()
    # without torch's own farewells: they wait for compile workers, and what is left is ended from outside
    sys.stderr.flush()
    os._exit(0)
