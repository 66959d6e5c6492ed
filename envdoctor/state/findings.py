"""What a run found beside what was open before it: what has appeared, changed, gone, or cannot be told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from envdoctor.errors import UsageError
from envdoctor.health.visits import Change
from envdoctor.model import Finding, Report, Severity
from envdoctor.state.database import storable

LONGEST = 1000
"""Characters of a message or a reason that are kept."""
ABOUT = 4096
"""Characters of a subject that are kept: of the longest path (PATH_MAX)."""
LACKING = 16 << 10
"""Characters that are kept of what a report lacks."""
Key = tuple[str, str]
"""A probe, and what its finding is about."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One finding, or several of one probe about one thing: the worst of them."""

    severity: Severity
    message: str


@dataclass(frozen=True, slots=True)
class Judged:
    """What a run says of findings."""

    seen: Mapping[Key, Seen]
    muted: frozenset[Key]
    settled: Callable[[str], bool]
    """Tells for a probe whether it has judged all there is, so that what it does not say is not there."""


NOTHING = Judged({}, frozenset(), lambda _: False)
"""Of a run that judged nothing."""


def judged(report: Report) -> Judged:
    """Sum up a report."""
    seen: dict[Key, Seen] = {}
    for probe, finding in report.findings():  # worst first
        seen.setdefault((probe, _about(finding)), Seen(finding.severity, cut(storable(finding.message))))
    muted = {(outcome.probe, _about(finding)) for outcome in report.outcomes for finding in outcome.muted}
    ran = {outcome.probe for outcome in report.outcomes if outcome.skipped is None and outcome.crashed is None}
    return Judged(seen, frozenset(muted - seen.keys()), lambda probe: probe in ran and not _lacks(probe, report.failed))


def _about(finding: Finding) -> str:
    return storable(finding.subject)[:ABOUT]


def cut(text: str) -> str:
    """Shorten a message."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


def _lacks(probe: str, failed: Mapping[str, str]) -> bool:
    """Tell whether a probe went by a fact that was read in part only: what it does not say may be there."""
    if not failed:
        return False
    from envdoctor import registry

    try:
        return bool(registry.facts_for(registry.select((probe,))) & failed.keys())
    except UsageError:  # a plug-in's that is not there now
        return True


@dataclass(frozen=True, slots=True)
class Open:
    """A finding that was there when it was last looked for."""

    id: int
    severity: Severity
    message: str
    unknown: float | None


Step = tuple[Literal["open", "update", "close", "mute", "doubt"], Key, Seen | None]


def compare(before: Mapping[Key, Open], now: Judged, most: int) -> tuple[list[Step], tuple[Change, ...]]:
    """Return what is to be written, and what has changed, worst first. At most so many findings are open at once."""
    new = [key for key in now.seen if key not in before][: max(0, most - len(before))]
    steps = [step for key in (*before, *new) if (step := _step(key, before.get(key), now)) is not None]
    changes = (_change(kind, key, before.get(key), seen) for kind, key, seen in steps)
    return steps, tuple(sorted((change for change in changes if change), key=_order))


def _step(key: Key, before: Open | None, now: Judged) -> Step | None:
    seen = now.seen.get(key)
    if seen is not None:
        if before is None:
            return "open", key, seen
        same = Seen(before.severity, before.message) == seen and before.unknown is None
        return None if same else ("update", key, seen)
    if key in now.muted:
        return "mute", key, None
    if now.settled(key[0]):
        return "close", key, None
    return ("doubt", key, None) if before is not None and before.unknown is None else None


def _change(kind: str, key: Key, before: Open | None, seen: Seen | None) -> Change | None:
    if seen is not None and before is None:
        return Change("appeared", *key, seen.severity, None, seen.message)
    if before is None:
        return None
    if seen is not None and seen.severity != before.severity:
        return Change(
            "worsened" if seen.severity > before.severity else "eased",
            *key,
            seen.severity,
            before.severity,
            seen.message,
        )
    return Change("healed", *key, before.severity, before.severity, before.message) if kind == "close" else None


def _order(change: Change) -> tuple[bool, int, str, str]:
    return change.kind in ("eased", "healed"), -change.severity, change.probe, change.subject


def lacking(report: Report) -> Iterable[str]:
    """Yield in short what a report lacks: probes that crashed or were skipped, facts that could not be read."""
    for outcome in report.outcomes:
        if outcome.crashed is not None:
            yield f"{outcome.probe} crashed"
        elif outcome.skipped is not None:
            yield f"{outcome.probe} skipped"
    yield from (f"{fact} not read" for fact in sorted(report.failed))
