"""What is remembered of each visit, in the state of whoever runs `health`. A state that fails stops no round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from envdoctor.errors import EnvDoctorError
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

    def _try(self, work: Callable[[], T], otherwise: T) -> T:
        try:
            found: T = call("the state", work, timeout=WITHIN)
        except EnvDoctorError as error:
            self.said[str(error)] = None
            return otherwise
        return found
