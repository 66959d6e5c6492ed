"""There is no compile cache for this build of torch.

Why it matters: the first training step then compiles everything, on every device and in every process. Minutes in which
nothing seems to happen are taken for a hang, and timeouts that fit a warm start run out.

What to do: let TORCHINDUCTOR_CACHE_DIR name a directory that stays, on a disk of this node, and bring a save back or
fill it before the job: `envdoctor warm` runs a training step of yours, forward and backward, on each device in turn. It
is a warning where a cache is remembered, else a note: a first run has none. `envdoctor cache accept` forgets what is
remembered.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from shlex import quote

from envdoctor.facts.cache_counts import GRAPHS, KINDS
from envdoctor.facts.cache_marks import CacheMarks
from envdoctor.model import Finding, Severity, Target, Unavailable
from envdoctor.printable import size_of
from envdoctor.views.warmth import Warmth, spoken


def check(warmth: Warmth, cache_marks: CacheMarks | Unavailable, target: Target) -> Iterable[Finding]:
    """Look for graphs of this build."""
    if not warmth.cold:
        return
    marks = () if isinstance(cache_marks, Unavailable) else cache_marks.marks
    once = {mark.kind: mark for mark in marks if not mark.device}
    had = next((once[kind] for kind in GRAPHS if kind in once), None)
    cache = warmth.cache
    here = f"{cache.path} ({cache.place.why}) {_state(warmth)}"
    counts = {kind: mark.keys for kind, mark in once.items()}
    if had is None:
        yield Finding(
            Severity.NOTE,
            cache.path,
            f"no compile cache yet: {here}, and the first step will compile everything",
            {"cache": cache.path, "exists": cache.exists, "why": cache.place.why},
        )
        return
    day = datetime.fromtimestamp(had.reached_at, UTC).date().isoformat()
    elsewhere = f" in {had.path}" if had.path != cache.path else ""
    yield Finding(
        Severity.WARNING,
        cache.path,
        f"the compile cache is gone: {here}; on {day} there were {spoken(counts)}, {size_of(had.size)}{elsewhere}",
        {
            "cache": cache.path,
            "exists": cache.exists,
            "why": cache.place.why,
            "mark": {kind: counts[kind] for kind in KINDS if kind in counts},
            "mark_path": had.path,
            "mark_bytes": had.size,
        },
        (
            *((f"export {cache.place.variable}={had.path}",) if elsewhere and had.path.startswith("/") else ()),
            f"envdoctor cache restore --latest --target {quote(target.prefix)}",
            f"or envdoctor warm --target {quote(target.prefix)} --entry PKG.MOD:FUNCTION",
            "give the first step the time that a cold start takes: it is no hang",
        ),
    )


def _state(warmth: Warmth) -> str:
    cache = warmth.cache
    if not cache.exists:
        return "is not there"
    return "is empty" if not cache.files else "holds nothing for this build of torch"
