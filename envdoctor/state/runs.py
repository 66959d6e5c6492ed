"""Runs and what they found: verdicts over time, and each finding from its appearance to its end."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, get_args

from envdoctor.model import Report, Severity, Verdict
from envdoctor.printable import printable, redact
from envdoctor.state import database, findings, following, pruning, snapshots, subjects
from envdoctor.state.database import rows, storable
from envdoctor.state.place import DamagedError
from envdoctor.state.values import Bounds, Episode, Kept, Run, Subject

if TYPE_CHECKING:
    import sqlite3

    from envdoctor.recorded import Recorded

ALL = 1 << 20
"""Runs that are returned where no limit is given: every ten minutes for 400 days, of eighteen environments."""
_RUN = "SELECT id, subject, at, verdict, errors, warnings, notes, seconds, reason, lacking FROM runs"
_KINDS = (int, int, float, str | None, int, int, int, float, int, int)


def record(
    path: str,
    subject: Subject,
    recorded: Recorded | None,
    report: Report | None,
    moment: datetime,
    *,
    reason: str = "",
    bounds: Bounds | None = None,
) -> Kept:
    """Remember a run, in one transaction, and forget what is beyond the bounds.

    `reason` says why there is no report. Raises StateError: then nothing is remembered.
    """
    now = moment.timestamp()

    def work(connection: sqlite3.Connection) -> Kept:
        number = subjects.numbered(connection, subject)
        first = not rows(connection, (int,), "SELECT id FROM runs WHERE subject = ? LIMIT 1", number)
        snapshot, problem = _snapshot(connection, number, recorded)
        judged = findings.judged(report) if report else findings.NOTHING
        changes = following.follow(connection, number, judged, now)
        run = _insert(connection, number, report, now, snapshot, reason)
        pruning.prune(connection, run, now, bounds or Bounds())
        return Kept(run, changes, problem, first)

    kept, said = database.write(path, work, now)
    return replace(kept, said=said or kept.said)


def _snapshot(connection: sqlite3.Connection, number: int, recorded: Recorded | None) -> tuple[int | None, str | None]:
    if recorded is None:
        return None, None
    try:
        return snapshots.put(connection, number, recorded), None
    except snapshots.TooLargeError:
        return None, f"{recorded.head.target.prefix}: its snapshot is too large to be kept"


def _insert(
    connection: sqlite3.Connection, number: int, report: Report | None, now: float, snapshot: int | None, reason: str
) -> int:
    severities = [finding.severity for _, finding in report.findings()] if report else []
    counts = [severities.count(severity) for severity in sorted(Severity, reverse=True)]
    verdict, seconds = (report.verdict, round(report.seconds, 2)) if report else (None, 0.0)
    lacking = "\n".join(findings.lacking(report))[: findings.LACKING] if report else ""
    texts = [_text_id(connection, text) for text in (findings.cut(printable(redact(reason))), lacking)]
    connection.execute(
        "INSERT INTO runs (subject, at, verdict, errors, warnings, notes, seconds, reason, lacking, snapshot) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (number, now, verdict, *counts, seconds, *texts, snapshot),
    )
    return subjects.last_row(connection)


def _text_id(connection: sqlite3.Connection, text: str) -> int:
    query = "SELECT id FROM texts WHERE text = ?"
    for (known,) in rows(connection, (int,), query, storable(text)):
        return int(known)
    connection.execute("INSERT INTO texts (text) VALUES (?)", (storable(text),))
    return subjects.last_row(connection)


def since(
    path: str,
    subject: Subject | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int = ALL,
) -> list[Run]:
    """Return runs, oldest first; with a limit the youngest of them. Raises StateError."""
    nothing: list[Run] = []

    def work(connection: sqlite3.Connection) -> list[Run]:
        where, values = _where(connection, subject, ("at >= ?", since), ("at <= ?", until))
        return _runs(connection, f"{where} ORDER BY at DESC, id DESC LIMIT ?", *values, limit)[::-1]

    return database.read(path, work, nothing)


def _where(
    connection: sqlite3.Connection, subject: Subject | None, *conditions: tuple[str, datetime | None]
) -> tuple[str, list[Any]]:
    """Return a condition and its values; an unknown subject has no rows."""
    values: list[Any] = [moment.timestamp() for _, moment in conditions if moment is not None]
    parts = [condition for condition, moment in conditions if moment is not None]
    if subject is not None:
        parts.append("subject = ?")
        values.append(subjects.number_of(connection, subject))
    return (f" WHERE {' AND '.join(parts)}" if parts else ""), values


def _runs(connection: sqlite3.Connection, rest: str, *values: object) -> list[Run]:
    known = subjects.by_number(connection)
    texts = dict(rows(connection, (int, str), "SELECT id, text FROM texts"))
    lacking = {number: tuple(text.splitlines()) for number, text in texts.items()}
    verdicts = get_args(Verdict)
    found = []
    for id_, number, at, verdict, errors, warnings, notes, seconds, why, lacks in rows(
        connection, _KINDS, _RUN + rest, *values
    ):
        if number not in known or (verdict is not None and verdict not in verdicts):
            raise DamagedError("holds a run that nobody has written")
        counts = (errors, warnings, notes)
        moment = subjects.moment_of(at)
        found.append(
            Run(id_, known[number], moment, verdict, *counts, seconds, texts.get(why, ""), lacking.get(lacks, ()))
        )
    return found


def last_healthy(path: str, subject: Subject) -> Run | None:
    """Return the youngest run whose verdict was healthy. Raises StateError."""
    nothing: list[Run] = []

    def work(connection: sqlite3.Connection) -> list[Run]:
        where, values = _where(connection, subject)
        return _runs(connection, f"{where} AND verdict = 'healthy' ORDER BY at DESC, id DESC LIMIT 1", *values)

    return next(iter(database.read(path, work, nothing)), None)


def last_visited(path: str) -> dict[Subject, datetime]:
    """Return when each environment was last looked at. Raises StateError."""

    def work(connection: sqlite3.Connection) -> dict[Subject, datetime]:
        known = subjects.by_number(connection)
        found = rows(connection, (int, float), "SELECT subject, MAX(at) FROM runs GROUP BY subject")
        return {known[number]: subjects.moment_of(at) for number, at in found if number in known}

    return database.read(path, work, {})


def episodes(path: str, subject: Subject | None = None, since: datetime | None = None) -> list[Episode]:
    """Return findings that are open or ended since then, the oldest first. Raises StateError."""
    nothing: list[Episode] = []

    def work(connection: sqlite3.Connection) -> list[Episode]:
        where, values = _where(connection, subject, ("(gone IS NULL OR gone >= ?)", since))
        return following.found(connection, where, values)

    return database.read(path, work, nothing)
