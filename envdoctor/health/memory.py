"""What is remembered of each visit, in the state of whoever runs `health`. A state that fails stops no round."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from envdoctor.errors import EnvDoctorError
from envdoctor.health.metrics import Past
from envdoctor.health.news import WINDOW, Before
from envdoctor.health.visits import Visit
from envdoctor.state import runs
from envdoctor.state.place import path_of
from envdoctor.state.values import Subject
from envdoctor.system.forked import call

if TYPE_CHECKING:
    from envdoctor.model import Verdict
    from envdoctor.state.values import Kept, Run
    from envdoctor.system.host import Host

WITHIN = 5.0
"""Seconds that the state may take: it may lie on a file server that does not answer."""
T = TypeVar("T")


class Memory:
    """The state of one run; with `keep` false nothing is written."""

    def __init__(self, path: str | None, host: Host, *, keep: bool) -> None:
        self.path = path or path_of(host.own, host.own["HOME"], host.name)
        self.host = host.name
        self.keep = keep
        self.said: dict[str, None] = {}
        """What went wrong with it, each once."""

    def visited(self) -> Mapping[str, datetime]:
        """Return when each environment of this host was last looked at."""
        found: dict[Subject, datetime] = self._try(partial(runs.last_visited, self.path), {})
        return {subject.target: moment for subject, moment in found.items() if subject.host == self.host}

    def verdict(self, target: str) -> tuple[datetime, Verdict | None] | None:
        """Return what the last look at an environment came to."""
        found: dict[Subject, datetime] = self._try(partial(runs.last_visited, self.path), {})
        subject = next((each for each in found if (each.host, each.target) == (self.host, target)), None)
        if subject is None:
            return None
        last: list[Run] = self._try(partial(runs.since, self.path, subject, limit=1), [])
        return (last[-1].at, last[-1].verdict) if last else None

    def remember(self, visit: Visit) -> Visit:
        """Record a visit; return it with what has changed since the one before."""
        if not self.keep or visit.uid < 0:
            return visit
        subject = Subject(self.host, str(visit.uid), visit.target)
        write = partial(runs.record, self.path, subject, visit.snapshot, visit.report, visit.at, reason=visit.reason)
        kept: Kept | None = self._try(write, None)
        if kept is None:
            return visit
        if kept.said:
            self.said[kept.said] = None
        return replace(visit, changes=kept.changes, first=kept.first)

    def past(self, visits: Sequence[Visit]) -> Mapping[str, Past]:
        """Return when each environment was last looked at, and last healthy; both may be in this round."""
        known: dict[str, Past] = self._try(partial(_past, self.path, tuple(self._subjects(visits))), {})
        return {visit.target: _with(visit, known.get(visit.target, Past())) for visit in visits}

    def before(self, visits: Sequence[Visit]) -> Mapping[str, Before]:
        """Return what was known of each environment before its visit; nothing of one that was not remembered."""
        if not self.keep:
            return {}
        known: dict[str, Before] = self._try(partial(_before, self.path, self._subjects(visits)), {})
        return known

    def _subjects(self, visits: Sequence[Visit]) -> dict[Subject, Visit]:
        return {Subject(self.host, str(visit.uid), visit.target): visit for visit in visits if visit.uid >= 0}

    def _try(self, work: Callable[[], T], otherwise: T) -> T:
        try:
            found: T = call("the state", work, timeout=WITHIN)
        except EnvDoctorError as error:
            self.said[str(error)] = None
            return otherwise
        return found


def _past(path: str, subjects: Sequence[Subject]) -> dict[str, Past]:
    visited = runs.last_visited(path)
    healthy = {subject: runs.last_healthy(path, subject) for subject in subjects}
    return {subject.target: Past(visited.get(subject), run.at if run else None) for subject, run in healthy.items()}


def _with(visit: Visit, past: Past) -> Past:
    """Add what this round knows: the state may be out of reach."""
    looked = visit.visited and visit.last is None
    healthy = visit.report is not None and visit.report.verdict == "healthy"
    return Past(visit.at if looked else past.checked, visit.at if healthy else past.healthy)


def _before(path: str, subjects: Mapping[Subject, Visit]) -> dict[str, Before]:
    return {subject.target: _known(path, subject, visit) for subject, visit in subjects.items()}


def _known(path: str, subject: Subject, visit: Visit) -> Before:
    """Look the window up only where something has changed: few environments have."""
    last = next(iter(runs.since(path, subject, until=visit.at - timedelta(milliseconds=1), limit=1)), None)
    if not visit.changes and (last is None or (last.verdict is None) == (visit.report is None)):
        return Before(last)
    begins = visit.at - WINDOW
    return Before(last, tuple(runs.since(path, subject, begins)), tuple(runs.episodes(path, subject, begins)))
