"""Prove on each device that what training does works. Run by the target's python; prints JSON lines; Python 3.9+.

argv: the descriptors for events and for stacks, the signal that asks for all stacks, and a directory for temporary
files. Imports torch, which is all it needs, then waits for its order on standard input: a JSON object that names the
devices, the steps to take on each, and those whose flex_attention is in the cache (`flex`).
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


def sibling(name: str) -> Any:
    """Import a module of this directory under a name that nobody else has."""
    spec = importlib.util.spec_from_file_location("envdoctor_smoke_" + name, os.path.join(HERE, name + ".py"))
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Take every device in turn; a failed one ends the process, since an error of CUDA spoils the context."""
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

        steps = sibling("steps")
        build = steps.build()
    except BaseException as error:  # whatever it is, it is the answer
        wire.failed("", "torch-import", began, error)
        return
    _scratch(sys.argv[4])
    wire.passed("", "torch-import", began, build)
    order = json.loads(sys.stdin.readline() or '{"devices": []}')
    for device in order["devices"]:
        bench = steps.Bench(device, flex=device in order["flex"])
        if not _device(wire, steps, bench, order["steps"]):
            return


def _scratch(folder: str) -> None:
    """Let temporary files go where they are removed with the run; where torch keeps its caches is settled by now."""
    os.environ["TMPDIR"] = tempfile.tempdir = folder


def _device(wire: Any, steps: Any, bench: Any, names: list[str]) -> bool:
    """Take the steps of one device, each only if those that it rests on passed. Return whether all went well."""
    failed: list[str] = []
    device = bench.name
    for name in names:
        lost = [step for step in steps.RESTS_ON.get(name, steps.FIRST) if step in failed]
        if lost:
            wire.never(device, name, lost[0] + " failed")
            continue
        began = time.monotonic()
        wire.begin(device, name)
        try:
            detail = steps.STEPS[name](bench)
        except steps.NotHereError as reason:
            wire.skipped(device, name, str(reason))
        except Exception as error:
            failed.append(name)
            wire.failed(device, name, began, error)
        else:
            wire.passed(device, name, began, detail)
            failed += [name] if detail.get("compiled") == 0 else []
    return not failed


if __name__ == "__main__":
    main()
    # without torch's own farewells: they wait for compile workers, and what is left is ended from outside
    sys.stderr.flush()
    os._exit(0)
