"""Let threads compile and train at once, once. Run by the target's python; prints JSON lines; Python 3.9+.

argv: the descriptors for events and for stacks, the signal that asks for all stacks, and a directory for temporary
files. Imports torch, then waits for its order on standard input: a JSON object with `work` (`race`, or `fill` for a
single thread that fills the cache, of the `first` device alone if so told), `devices`, `graphs` that a CPU has,
`per_device`, `steps`, `remedy` and `start`.
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
FOLDERS = (HERE, os.path.join(os.path.dirname(HERE), "smoke"))
"""Where modules are looked for: here, and where those are that both payloads use."""


def sibling(name: str) -> Any:
    """Import a module of ours under a name that nobody else has."""
    path = next(filter(os.path.exists, (os.path.join(folder, name + ".py") for folder in FOLDERS)), "")
    spec = importlib.util.spec_from_file_location("envdoctor_threads_" + name, path)
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Do one piece of work and tell of it."""
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
        racing = sibling("racing")
    except BaseException as error:  # whatever it is, it is the answer
        wire.failed("", "torch-import", began, error)
        return
    os.environ["TMPDIR"] = tempfile.tempdir = sys.argv[4]
    wire.passed("", "torch-import", began, build)
    order = json.loads(sys.stdin.readline() or '{"work": ""}')
    if order["work"] not in racing.WORK:
        return
    began = time.monotonic()
    wire.begin("", "threads")
    try:
        detail = racing.WORK[order["work"]](order)
    except racing.models.NotHereError as reason:
        wire.skipped("", "threads", str(reason))
    except Exception as error:
        wire.failed("", "threads", began, error)
    else:
        wire.passed("", "threads", began, detail)


if __name__ == "__main__":
    main()
    # without torch's own farewells: they wait for compile workers, and what is left is ended from outside
    sys.stderr.flush()
    os._exit(0)
