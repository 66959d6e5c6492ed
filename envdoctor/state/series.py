"""Which snapshots a time of the history has, and their contents, for whoever looks at many of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from envdoctor.state import database, snapshots, subjects
from envdoctor.state.values import Subject

if TYPE_CHECKING:
    import sqlite3


Taken = TypeVar("Taken")


@dataclass(frozen=True, slots=True)
class Stay:
    """A time in which every run saw the same, but for what moves by itself."""

    snapshot: int
    first: float
    """When the first run saw it, seconds since the epoch."""
    last: float
    runs: int


def stays(path: str, subject: Subject, since: datetime | None = None) -> list[Stay]:
    """Return them, oldest first. Raises StateError."""

    def work(connection: sqlite3.Connection) -> list[Stay]:
        number, begin = subjects.number_of(connection, subject), since.timestamp() if since else 0.0
        query = "SELECT at, snapshot FROM runs WHERE subject = ? AND at >= ? AND snapshot IS NOT NULL ORDER BY at, id"
        return list(_stays(database.rows(connection, (float, int), query, number, begin)))

    return database.read(path, work, [])


def _stays(found: Sequence[tuple[float, int]]) -> Iterator[Stay]:
    for snapshot, group in groupby(found, key=lambda row: row[1]):
        times = [at for at, _ in group]
        yield Stay(snapshot, times[0], times[-1], len(times))


def each(path: str, wanted: Sequence[int], take: Callable[[bytes], Taken]) -> dict[int, Taken]:
    """Return what `take` makes of the text of each snapshot, by id; one that is gone by now is left out.

    One text at a time is held. Raises StateError.
    """

    def work(connection: sqlite3.Connection) -> dict[int, Taken]:
        marks = ", ".join("?" * len(wanted))
        query = f"SELECT id FROM snapshots WHERE id IN ({marks})"  # noqa: S608 - question marks
        there = [number for (number,) in database.rows(connection, (int,), query, *wanted)]
        return {number: take(snapshots.rebuilt(connection, number)) for number in there}

    nothing: dict[int, Taken] = {}
    return database.read(path, work, nothing)
