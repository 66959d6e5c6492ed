"""`envdoctor cache status` and `cache accept`: every compile cache that the job would use, and what it once held."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

from envdoctor import __version__, marking, registry, snapshot, workflows
from envdoctor.codec import to_json
from envdoctor.locate import Wish, seek
from envdoctor.model import Report, Unavailable
from envdoctor.printable import clean
from envdoctor.snapshot import Snapshot
from envdoctor.system.forked import call
from envdoctor.system.host import Host
from envdoctor.views import warmth

SCHEMA = 1
AREA = ("cache", "compile/forked-workers")
DEADLINE = 30.0


@dataclass(frozen=True, slots=True)
class Inventory:
    """What there is, and what is to be said of it."""

    document: Mapping[str, Any]
    """JSON values: `caches`, `marks`, `counts` and what a report has; safe to print."""
    report: Report


def status(wish: Wish, host: Host, *, keep: bool = True) -> Inventory:
    """Look at all caches; with `keep`, raise the marks. Raises UsageError if there is no target."""
    return _inventory(wish, host, marking.remember if keep else None)


def accept(wish: Wish, host: Host) -> Inventory:
    """Make the present counts the marks. Raises EnvDoctorError where they are not known or cannot be written."""
    return _inventory(wish, host, partial(marking.remember, accept=True))


def _inventory(wish: Wish, host: Host, remember: Callable[[Snapshot], str | None] | None) -> Inventory:
    began = time.monotonic()
    taken, report = _taken(wish, host, began)
    if remember is not None:
        said = remember(taken)
        if said:
            report = replace(report, seen={**report.seen, "state": said})
        taken = replace(taken, cache_marks=marking.renewed(taken))
    return Inventory(_document(taken, report), report)


def _taken(wish: Wish, host: Host, began: float) -> tuple[Snapshot, Report]:
    target, policy, host = call("the search for the target", partial(seek, wish, host), timeout=DEADLINE)
    registry.use_plugins(policy.plugins)
    probes = registry.select(AREA)
    wanted = registry.facts_for(probes)
    taken = snapshot.take(
        target, host, wanted, deadline=DEADLINE, meanwhile=chain(snapshot.load(), registry.load(("cache", "compile")))
    )
    return taken, workflows.report(target, policy, taken, probes, host, began)


def _document(taken: Snapshot, report: Report) -> Mapping[str, Any]:
    caches, marks, torch = taken.compile_caches, taken.cache_marks, taken.torch_build
    found = None if isinstance(caches, Unavailable) else caches
    seen: warmth.Warmth | Unavailable = Unavailable("")
    if found is not None and not isinstance(torch, Unavailable):
        seen = warmth.view(found, torch, taken.jit_tools)
    counts = {} if isinstance(seen, Unavailable) else seen.counts
    remembered = () if isinstance(marks, Unavailable) else marks.marks
    document: Mapping[str, Any] = clean(
        {
            "schema": SCHEMA,
            "envdoctor": __version__,
            "taken_at": report.taken_at.replace(microsecond=0).isoformat().replace("+00:00", "Z"),
            "host": report.host,
            "target": report.target.prefix if report.target else None,
            "torch": taken.known("torch_build", "version"),
            "problem": caches.reason if isinstance(caches, Unavailable) else None,
            "caches": [to_json(cache) for cache in found.caches] if found else [],
            "counts": [
                {"kind": kind, "device": device, "keys": keys} for (kind, device), keys in sorted(counts.items())
            ],
            "marks": [to_json(mark) for mark in remembered],
            "state": report.seen.get("state"),
            "seconds": round(report.seconds, 3),
        }
    )
    return document
