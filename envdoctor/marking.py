"""Raise the marks of the compile caches to what a run has seen, or make the present counts the marks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from envdoctor.errors import EnvDoctorError
from envdoctor.model import Unavailable
from envdoctor.system.forked import call

if TYPE_CHECKING:
    from envdoctor.facts.cache_marks import CacheMarks
    from envdoctor.snapshot import Snapshot
    from envdoctor.state.marks import Mark
    from envdoctor.views.warmth import Warmth

WITHIN = 5.0
"""Seconds that the state may take: it may lie on a file server that does not answer."""


Writing = Callable[[], str | None]
"""Writes to the state, and says what happened to a damaged file."""


def remember(taken: Snapshot, *, accept: bool = False, also: Writing | None = None) -> str | None:
    """Write what was seen, and what else is to be written; say what went wrong with the state, None if nothing did.

    What was not seen in full raises nothing. With `accept` the present counts become the marks, whatever they were;
    then EnvDoctorError is raised where they are not known or cannot be written.
    """
    due, problem = _due(taken, accept=accept)
    writings = [writing for writing in (also, due) if writing is not None]
    if not writings:
        return problem
    try:
        said: str | None = call("the state", partial(_all, writings), timeout=WITHIN)
    except EnvDoctorError as error:
        if accept:
            raise
        return str(error)
    return said or (problem if due is None else None)


def _all(writings: Sequence[Writing]) -> str | None:
    said = [writing() for writing in writings]
    return "; ".join(filter(None, said)) or None


def _due(taken: Snapshot, *, accept: bool) -> tuple[Writing | None, str | None]:
    """Return what writes the marks, None if there is nothing to write; and why those before could not be read."""
    from envdoctor.state import marks as state

    seen = _seen(taken)
    known = taken.cache_marks
    missing = next((fact for fact in (known, seen) if isinstance(fact, Unavailable)), None)
    if missing is not None and accept:
        raise EnvDoctorError(f"nothing is accepted: {missing.reason}")
    if isinstance(known, Unavailable) or isinstance(seen, Unavailable):
        return None, None
    now = seen.taken_at
    whole = seen.warmth.sampled or accept
    marks = present(seen.warmth, now) if whole and (accept or not seen.warmth.cold) else []
    if not (marks or accept):
        return None, known.problem
    return partial(state.record, known.path, known.key, marks, now, accept=accept), known.problem


def renewed(taken: Snapshot) -> CacheMarks | Unavailable:
    """Return the marks as they are after a run has written; those read before if they cannot be read again."""
    from envdoctor.state import marks as state

    known = taken.cache_marks
    if isinstance(known, Unavailable) or isinstance(taken.compile_caches, Unavailable):
        return known
    try:
        read = partial(state.read, known.path, known.key, taken.compile_caches.taken_at)
        return replace(known, marks=call("the state", read, timeout=WITHIN), problem=None)
    except EnvDoctorError:
        return known


@dataclass(frozen=True, slots=True)
class _Seen:
    """Counts of keys, and when they were taken."""

    warmth: Warmth
    taken_at: float


def _seen(taken: Snapshot) -> _Seen | Unavailable:
    from envdoctor.views import warmth

    if isinstance(taken.compile_caches, Unavailable):
        return taken.compile_caches
    if isinstance(taken.torch_build, Unavailable):
        return taken.torch_build
    found = warmth.view(taken.compile_caches, taken.torch_build, taken.jit_tools)
    return found if isinstance(found, Unavailable) else _Seen(found, taken.compile_caches.taken_at)


def present(seen: Warmth, now: float) -> list[Mark]:
    """Return the counts as they are, as marks."""
    from envdoctor.facts.cache_counts import KINDS
    from envdoctor.state.marks import Mark

    return [
        Mark(kind, device, keys, seen.cache.size, seen.cache.path, now, now)
        for (kind, device), keys in sorted(seen.counts.items())
        if kind in KINDS and keys
    ]
