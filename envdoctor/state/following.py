"""Findings from their appearance to their end, brought up to date by each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from envdoctor.health.visits import Change
from envdoctor.model import Severity
from envdoctor.state import findings, subjects
from envdoctor.state.database import rows
from envdoctor.state.place import DamagedError
from envdoctor.state.values import Episode

if TYPE_CHECKING:
    import sqlite3

MOST = 1000
"""Findings of one environment that are followed at once: what a tree holds decides how many there are."""
TOLD = 20_000
"""Findings that are returned at most, the youngest."""


def follow(connection: sqlite3.Connection, number: int, now: findings.Judged, at: float) -> tuple[Change, ...]:
    """Bring the open findings up to date; return what has changed."""
    before = _open(connection, number)
    steps, changes = findings.compare(before, now, MOST)
    for kind, key, seen in steps:
        if kind == "open" and seen is not None:
            _begin(connection, number, key, seen, at)
        elif kind == "update" and seen is not None:
            query = "UPDATE episodes SET severity = ?, message = ?, unknown = NULL WHERE id = ?"
            connection.execute(query, (seen.severity, seen.message, before[key].id))
        elif kind == "doubt":
            connection.execute("UPDATE episodes SET unknown = ? WHERE id = ?", (at, before[key].id))
        else:
            query = "UPDATE episodes SET gone = ?, unknown = NULL, muted = ? WHERE id = ?"
            connection.execute(query, (at, kind == "mute", before[key].id))
    return changes


def _begin(connection: sqlite3.Connection, number: int, key: findings.Key, seen: findings.Seen, at: float) -> None:
    connection.execute(
        "INSERT INTO episodes (subject, probe, about, severity, message, appeared, muted) VALUES (?, ?, ?, ?, ?, ?, 0)",
        (number, *key, seen.severity, seen.message, at),
    )


def _open(connection: sqlite3.Connection, number: int) -> Mapping[findings.Key, findings.Open]:
    query = "SELECT id, probe, about, severity, message, unknown FROM episodes WHERE subject = ? AND gone IS NULL"
    found = rows(connection, (int, str, str, int, str, float | None), query, number)
    return {
        (probe, about): findings.Open(id_, _severity(level), message, unknown)
        for id_, probe, about, level, message, unknown in found
    }


def _severity(number: int) -> Severity:
    try:
        return Severity(number)
    except ValueError as error:
        raise DamagedError(f"holds what no run has written: {error}") from error


def found(connection: sqlite3.Connection, where: str, values: Sequence[Any]) -> list[Episode]:
    """Return the findings that meet a condition, the oldest first."""
    known = subjects.by_number(connection)
    query = f"SELECT subject, probe, about, severity, message, appeared, gone, unknown, muted FROM episodes{where}"  # noqa: S608 - ours
    kinds = (int, str, str, int, str, float, float | None, float | None, int)
    told = rows(connection, kinds, f"{query} ORDER BY appeared DESC, id DESC LIMIT ?", *values, TOLD)
    episodes = []
    for number, probe, about, level, message, appeared, gone, unknown, muted in reversed(told):
        if number not in known:
            raise DamagedError("holds a finding of nobody")
        begin, end, doubt = subjects.moment_of(appeared), _maybe(gone), _maybe(unknown)
        episodes.append(Episode(known[number], probe, about, _severity(level), message, begin, end, doubt, bool(muted)))
    return episodes


def _maybe(seconds: float | None) -> datetime | None:
    return None if seconds is None else subjects.moment_of(seconds)
