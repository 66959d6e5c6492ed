"""Whose history a row is: each subject has a number within the file."""

from __future__ import annotations

from dataclasses import astuple
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from envdoctor.state.database import rows, storable
from envdoctor.state.values import Subject

if TYPE_CHECKING:
    import sqlite3


def number_of(connection: sqlite3.Connection, subject: Subject) -> int | None:
    """Return the number of a subject, None if nothing is known of it."""
    query = "SELECT id FROM subjects WHERE host = ? AND user = ? AND target = ?"
    return next((number for (number,) in rows(connection, (int,), query, *_key(subject))), None)


def numbered(connection: sqlite3.Connection, subject: Subject) -> int:
    """Return the number of a subject, a new one if nothing is known of it yet."""
    known = number_of(connection, subject)
    if known is not None:
        return known
    connection.execute("INSERT INTO subjects (host, user, target) VALUES (?, ?, ?)", _key(subject))
    return last_row(connection)


def by_number(connection: sqlite3.Connection) -> dict[int, Subject]:
    """Return all subjects."""
    found = rows(connection, (int, str, str, str), "SELECT id, host, user, target FROM subjects")
    return {number: Subject(*key) for number, *key in found}


def last_row(connection: sqlite3.Connection) -> int:
    """Return the id of the row that was inserted last."""
    return int(connection.execute("SELECT last_insert_rowid()").fetchone()[0])


def moment_of(seconds: float) -> datetime:
    """Return a time of the file's, seconds since the epoch, in UTC."""
    return datetime.fromtimestamp(seconds, UTC)


def _key(subject: Subject) -> tuple[str, ...]:
    return tuple(storable(part) for part in astuple(subject))
