"""What has changed since the run before, and what of it is worth waking somebody for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from envdoctor.health.visits import Change, Visit
from envdoctor.model import Severity
from envdoctor.state.values import Episode, Run

WINDOW = timedelta(days=1)
APPEARANCES = 3
"""What has come so often within the window comes and goes: it is told once more, as such, and then no longer."""
TOLD = ("appeared", "worsened", "healed")
"""Kinds of changes that somebody is told of; what eases is still there."""
UNJUDGED = ""
"""Stands for the probe of what is about the whole environment: that it could not be judged."""


@dataclass(frozen=True, slots=True)
class Before:
    """What the state knew of an environment, up to the run that is told of."""

    run: Run | None = None
    """The run before; None if this is the first."""
    runs: tuple[Run, ...] = ()
    """Those within the window, oldest first, this one included."""
    episodes: tuple[Episode, ...] = ()
    """Findings that were there within the window."""


@dataclass(frozen=True, slots=True)
class News:
    """A change, and where."""

    visit: Visit
    change: Change
    flapping: bool = False
    """True if it comes and goes: this is the last that is told of it, until it rests for a day."""


def changed(visit: Visit, before: Before) -> bool:
    """Tell whether a visit says anything that the run before it did not."""
    if not _new(visit):
        return False
    return before.run is None or bool(visit.changes) or _verdict(visit) != before.run.verdict


def _new(visit: Visit) -> bool:
    """Tell whether the environment was looked at in this round."""
    return visit.visited and visit.last is None


def _verdict(visit: Visit) -> str | None:
    return visit.report.verdict if visit.report else None


def news(visit: Visit, before: Before) -> tuple[News, ...]:
    """Return what is worth telling: at the first run of an environment only if it is sick."""
    if not _new(visit) or (before.run is None and _verdict(visit) != "sick"):
        return ()
    changes = [*_judged(visit, before), *visit.changes]
    counts = _counts(before)
    found = []
    for change in changes:
        count = counts[change.probe, change.subject]
        if change.kind in TOLD and (count < APPEARANCES or (count == APPEARANCES and change.kind == "appeared")):
            found.append(News(visit, change, count >= APPEARANCES))
    return tuple(found)


def _judged(visit: Visit, before: Before) -> tuple[Change, ...]:
    """Tell that an environment cannot be judged any more, or can again."""
    was, now = before.run is None or before.run.verdict is not None, visit.report is not None
    if was == now:
        return ()
    change = Change("healed", UNJUDGED, visit.target, Severity.ERROR, Severity.ERROR, "it is judged again")
    return (change if now else replace(change, kind="appeared", before=None, message=f"not judged: {visit.reason}"),)


def _counts(before: Before) -> Counter[tuple[str, str]]:
    """Count how often each finding has appeared within the window."""
    begins = before.runs[-1].at - WINDOW if before.runs else None
    counts = Counter((episode.probe, episode.about) for episode in before.episodes if _since(episode.appeared, begins))
    pairs = zip(before.runs, before.runs[1:], strict=False)
    lost = sum(first.verdict is not None and second.verdict is None for first, second in pairs)
    if before.runs:
        counts[UNJUDGED, before.runs[-1].subject.target] = lost
    return counts


def _since(moment: datetime, begins: datetime | None) -> bool:
    return begins is None or moment >= begins


def document(
    host: str, moment: str, found: Sequence[News], targets: Sequence[Mapping[str, object]]
) -> dict[str, object]:
    """Return what the command is told: schema 1, keys are only ever added."""
    changes = [
        {
            "target": item.visit.target,
            "owner": item.visit.owner,
            "kind": item.change.kind,
            "probe": item.change.probe or None,
            "subject": item.change.subject,
            "severity": item.change.severity.label,
            "before": item.change.before.label if item.change.before is not None else None,
            "message": item.change.message,
            "flapping": item.flapping,
        }
        for item in found
    ]
    return {"schema": 1, "host": host, "taken_at": moment, "changes": changes, "targets": list(targets)}
