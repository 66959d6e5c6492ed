"""The variables of jobs, as the last check of their owner saw them: cron does not know a job's environment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from envdoctor.state import database, subjects
from envdoctor.state.place import DamagedError
from envdoctor.state.values import Subject

if TYPE_CHECKING:
    import sqlite3

RENEW = 86400.0
"""Seconds after which variables that have not changed are written again: their age is what they are judged by."""
LONGEST = 256 << 10
"""Bytes of all variables of a job together. The kernel's own limit for one of them is 128 KiB (execve(2))."""


def record(path: str, subject: Subject, variables: Mapping[str, str], moment: datetime) -> str | None:
    """Remember them if they have changed, or were last remembered a day ago. Raises StateError.

    `variables` are those of facts/variables.py, without secrets. Returns what happened to a damaged file.
    """
    now, text = moment.timestamp(), json.dumps(dict(sorted(variables.items())))
    if len(text) > LONGEST:
        return f"the variables of this job are not remembered: they hold {len(text):,} bytes"
    try:
        known = database.read(path, lambda connection: _last(connection, subject), None)
    except DamagedError:
        known = None
    if known is not None and known[1] == text and 0 <= now - known[0] < RENEW:
        return None
    return database.write(path, lambda connection: _put(connection, subject, now, text), now)[1]


def last(path: str, subject: Subject) -> tuple[datetime, Mapping[str, str]] | None:
    """Return when they were last remembered, and the variables. None if they never were. Raises StateError."""
    known = database.read(path, lambda connection: _last(connection, subject), None)
    if known is None:
        return None
    try:
        variables = json.loads(known[1])
    except (ValueError, RecursionError):
        variables = None
    if not isinstance(variables, dict) or not all(isinstance(value, str) for value in variables.values()):
        raise DamagedError(f"{path}: the variables of a job are not what was written")
    return subjects.moment_of(known[0]), variables


def _last(connection: sqlite3.Connection, subject: Subject) -> tuple[float, str] | None:
    query = "SELECT at, variables FROM environments WHERE subject = ?"
    number = subjects.number_of(connection, subject)
    return next(iter(database.rows(connection, (float, str), query, number)), None)


def _put(connection: sqlite3.Connection, subject: Subject, now: float, text: str) -> None:
    number = subjects.numbered(connection, subject)
    connection.execute("INSERT OR REPLACE INTO environments VALUES (?, ?, ?)", (number, now, text))
