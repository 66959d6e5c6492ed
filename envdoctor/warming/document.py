"""What a warm-up came to, as JSON values that are safe to print."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from envdoctor import __version__
from envdoctor.cache import counters
from envdoctor.facts.cache_counts import KINDS
from envdoctor.printable import clean
from envdoctor.views.warmth import Warmth
from envdoctor.warming.values import Result, Run, Warmed

SCHEMA = 1


def of(result: Result, host: str, moment: datetime, seconds: float) -> Mapping[str, Any]:
    """Return it; keys may be added within one schema number, and what is there keeps its meaning."""
    asked, saved = result.asked, result.saved
    document: Mapping[str, Any] = clean(
        {
            "schema": SCHEMA,
            "envdoctor": __version__,
            "taken_at": moment.replace(microsecond=0).isoformat().replace("+00:00", "Z"),
            "host": host,
            "target": result.target.prefix,
            "torch": result.torch,
            "warm": result.proven,
            "status": result.status(),
            "entry": asked.entry,
            "script": asked.script,
            "command": shlex.join(asked.command) or None,
            "cache": result.cache,
            "why": result.why,
            "expected_keys": asked.expect,
            "share": result.share,
            "devices": [_device(each) for each in result.warmed],
            "cold": [
                {"device": each.device, "keys": each.keys, "mark": each.mark, "counts": each.counts}
                for each in result.cold
            ],
            "unknown": result.unknown or None,
            "saved": {"path": saved.path, "bytes": saved.size, "written": saved.written} if saved else None,
            "not_saved": result.unsaved or None,
            "state": result.state,
            "seconds": round(seconds, 3),
        }
    )
    return document


def _device(warmed: Warmed) -> dict[str, Any]:
    now, before = _keys(warmed.after, warmed.device), _keys(warmed.before, warmed.device)
    new = None if now is None or before is None else {kind: now[kind] - before.get(kind, 0) for kind in now}
    return {
        "device": warmed.device,
        "warm": not warmed.faults,
        "warm_up": _run(warmed.first),
        "proof": _run(warmed.again) if warmed.again else None,
        "already_warm": warmed.again is None and not warmed.faults,
        "keys": now,
        "new_keys": None if new is None else {kind: count for kind, count in new.items() if count > 0},
        "mark": warmed.mark,
        "faults": [{"kind": each.kind, "said": each.said, "remedy": list(each.remedy)} for each in warmed.faults],
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "seconds": round(run.seconds, 3),
        "status": run.status,
        "counters": counters.shown(counters.total(run.told)),
        "processes": len(run.told),
        "new_files": len(run.new),
    }


def _keys(seen: Warmth | None, device: str) -> dict[str, int] | None:
    """Return keys by kind for a device; those of triton tell no device and stand for all together."""
    if seen is None:
        return None
    found = {kind: seen.keys(kind, device if kind != "triton" else "") for kind in KINDS}
    return {kind: keys for kind, keys in found.items() if keys}
