"""Every device in turn, step after step."""

from __future__ import annotations

import time
from typing import Any

from __main__ import sibling

steps = sibling("steps")


def run(wire: Any, order: dict[str, Any]) -> None:
    """Take every device in turn; a failed one ends the process, since an error of CUDA spoils the context.

    The order names the `devices`, the `steps` to take on each, and those whose flex_attention is in the cache (`flex`).
    """
    for device in order["devices"]:
        bench = steps.Bench(device, flex=device in order["flex"])
        if not _device(wire, bench, order["steps"]):
            return


def _device(wire: Any, bench: Any, names: list[str]) -> bool:
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
