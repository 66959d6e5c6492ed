"""`envdoctor diff`: find the two snapshots that are meant, compare them, and put it into a document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Literal

from envdoctor import __version__, recalling, workflows
from envdoctor.changes.compare import COMPARED, compare
from envdoctor.changes.events import Comparison
from envdoctor.codec import to_json
from envdoctor.errors import UsageError
from envdoctor.locate import Wish
from envdoctor.printable import clean
from envdoctor.recorded import Recorded
from envdoctor.system.forked import call
from envdoctor.system.host import Host

SCHEMA = 1
HEALTHY, NOW = "healthy", "now"
Source = Literal["file", "history", "now"]
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"\d{1,6}[mhdw]|\d{4}-\d{2}-\d{2}.*")


@dataclass(frozen=True, slots=True)
class Seen:
    """One of the two snapshots."""

    asked: str
    """What was named: a file, a time, a run's id, `healthy` or `now`."""
    source: Source
    run: int | None
    """Id of the run that took it, if it is from the history."""
    taken_at: str
    """RFC 3339, UTC."""
    host: str
    target: str
    """Prefix of the environment."""
    lock: str | None
    envdoctor: str
    """Version that took it."""


@dataclass(frozen=True, slots=True)
class Told:
    """A document and the exit status that goes with it."""

    document: Mapping[str, Any]
    """JSON values, safe to print."""
    status: int


@dataclass(frozen=True, slots=True)
class _Found:
    asked: str
    source: Source
    recorded: Recorded
    run: int | None = None


class Finder:
    """Finds snapshots by what they are called on the command line."""

    def __init__(self, wish: Wish, host: Host, deadline: float) -> None:
        self.wish, self.host, self.deadline = wish, host, deadline

    def find(self, asked: str, *, last: bool) -> _Found:
        """Return a snapshot. `last` is for the later one: a day then means its end, and not its beginning.

        Raises UsageError if there is none, EnvDoctorError if it cannot be read.
        """
        if asked == NOW:
            now = workflows.observe(self.wish, self.host, COMPARED, deadline=self.deadline)
            return _Found(asked, "now", now)
        if asked == HEALTHY:
            return self._remembered(asked, None)
        if asked.isdecimal():
            return self._remembered(asked, int(asked[:18]))
        if _TIME.fullmatch(asked):
            return self._remembered(asked, self._moment(asked, last=last))
        try:
            return _Found(asked, "file", workflows.recording(asked, self.host, deadline=self.deadline))
        except UsageError as error:
            said = str(error).removeprefix("--snapshot: ")
            raise UsageError(f"{said}; a snapshot is a file, a time, a run's id, {HEALTHY} or {NOW}") from error

    def _moment(self, asked: str, *, last: bool) -> datetime:
        try:
            begin = recalling.moment_of(asked, self.host.now())
        except UsageError as error:
            raise UsageError(str(error).removeprefix("--since: ")) from error
        return begin + timedelta(days=1, seconds=-1) if last and _DAY.fullmatch(asked) else begin

    def _remembered(self, asked: str, when: datetime | int | None) -> _Found:
        found: _Found = call("the state", partial(self._recalled, asked, when), timeout=self.deadline)
        return found

    def _recalled(self, asked: str, when: datetime | int | None) -> _Found:
        """Read the history; `when` is None for the last healthy run."""
        from envdoctor.state import runs, snapshots

        path, subject = recalling.subject(self.wish, self.host)
        if when is None:
            healthy = runs.last_healthy(path, subject)
            if healthy is None:
                raise UsageError(
                    f"no healthy run of {subject.target} is remembered in {path}; `envdoctor health` records runs, "
                    "and two files, times or runs can be named"
                )
            when = healthy.id
        found = snapshots.at(path, subject, when)
        if found is None:
            which = f"with the id {when}" if isinstance(when, int) else f"until {when.isoformat(' ', 'seconds')}"
            raise UsageError(f"{asked}: no snapshot of {subject.target} {which} is remembered in {path}")
        return _Found(asked, "history", found, self._run(path, when, found))

    def _run(self, path: str, when: datetime | int, found: Recorded) -> int | None:
        from envdoctor.state import runs

        if isinstance(when, int):
            return when
        subject = recalling.subject(self.wish, self.host)[1]
        at = found.head.taken_at
        taken = runs.since(path, subject, at, at + timedelta(seconds=1), 1)
        return taken[-1].id if taken else None


def diff(first: str, second: str, wish: Wish, host: Host, *, deadline: float = workflows.DEADLINE) -> Told:
    """Compare two snapshots. Raises UsageError if there is no such snapshot, EnvDoctorError if one cannot be read."""
    if first == second == "-":
        raise UsageError("standard input is one snapshot; name the other one")
    finder = Finder(wish, host, deadline)
    before, after = finder.find(first, last=False), finder.find(second, last=True)
    found = compare(before.recorded, after.recorded)
    sides = (seen(side.recorded, side.asked, side.source, side.run) for side in (before, after))
    return Told(document(found, *sides), found.status)


def seen(recorded: Recorded, asked: str, source: Source, run: int | None = None) -> Seen:
    """Say which snapshot it is."""
    head, target = recorded.head, recorded.head.target
    moment = head.taken_at.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"
    named = "standard input" if asked == "-" else asked
    return Seen(named, source, run, moment, head.host, target.prefix, target.lock, head.envdoctor)


def document(found: Comparison, before: Seen, after: Seen) -> Mapping[str, Any]:
    """Return a comparison as JSON values that are safe to print."""
    told: Mapping[str, Any] = clean(
        {
            "schema": SCHEMA,
            "envdoctor": __version__,
            "before": to_json(before),
            "after": to_json(after),
            "notes": list(_notes(before, after)),
            "events": [{**to_json(event), "weight": event.weight.name.lower()} for event in found.events],
            "not_comparable": [to_json(gap) for gap in found.gaps],
        }
    )
    return told


def _notes(before: Seen, after: Seen) -> Iterator[str]:
    """Yield what else the two differ in, so that nobody takes one node for the other."""
    for what, was, now in (
        ("hosts", before.host, after.host),
        ("targets", before.target, after.target),
        ("envdoctors", before.envdoctor, after.envdoctor),
    ):
        if was != now:
            yield f"of different {what}: {was} and {now}"
    if before.taken_at > after.taken_at:
        yield "the first one is the younger one"
