"""Forget what is old or too much: never an open finding, and of no environment the last run or the last healthy one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envdoctor.state.database import rows
from envdoctor.state.values import Bounds

if TYPE_CHECKING:
    import sqlite3

EVERY = 100
"""One run in so many looks for what is too old: removing it reads the whole file."""
_ENOUGH = 0.9
"""Part of the allowed size that is left, so that not every run has to prune."""
_SHARE = 8
"""One part in so many of an environment's runs goes at a time."""
_OFTEN = 200
"""How often at most a run takes away such a part."""
_LAST = "SELECT id FROM (SELECT id FROM runs WHERE subject = ?1{} ORDER BY at DESC, id DESC LIMIT 1)"
_KEPT = " UNION ALL ".join(
    _LAST.format(which)
    for which in ("", " AND verdict = 'healthy'", " AND verdict = 'healthy' AND snapshot IS NOT NULL")
)
"""Runs that stay."""


def prune(connection: sqlite3.Connection, run: int, now: float, bounds: Bounds) -> None:
    """Forget what is older than allowed, then the oldest of whoever takes most room until the rest fits.

    `run` is the id of the one that was just recorded.
    """
    if run % EVERY == 0:
        forgotten = [_forget(connection, number, now - bounds.age) for number in _numbers(connection)]
        if any(forgotten):
            _sweep(connection)
    if _size(connection) <= bounds.size:
        return
    for _ in range(_OFTEN):
        if not _shorten(connection):
            return
        _sweep(connection)
        if _size(connection) <= bounds.size * _ENOUGH:
            return


def _numbers(connection: sqlite3.Connection) -> list[int]:
    return [number for (number,) in rows(connection, (int,), "SELECT id FROM subjects")]


def _forget(connection: sqlite3.Connection, number: int, oldest: float) -> int:
    """Forget the runs of an environment that are older, and findings that were gone by then; return how many."""
    query = f"DELETE FROM runs WHERE subject = ?1 AND at < ?2 AND id NOT IN ({_KEPT})"  # noqa: S608 - ours
    runs = connection.execute(query, (number, oldest)).rowcount
    found = connection.execute("DELETE FROM episodes WHERE subject = ? AND gone < ?", (number, oldest)).rowcount
    return runs + found


def _sweep(connection: sqlite3.Connection) -> None:
    """Remove what no run speaks of any more."""
    used = "SELECT snapshot FROM runs WHERE snapshot IS NOT NULL"
    connection.execute(f"DELETE FROM snapshots WHERE base IS NOT NULL AND id NOT IN ({used})")  # noqa: S608 - ours
    bases = "SELECT base FROM snapshots WHERE base IS NOT NULL"
    connection.execute(f"DELETE FROM snapshots WHERE base IS NULL AND id NOT IN ({used} UNION {bases})")  # noqa: S608
    connection.execute("DELETE FROM texts WHERE id NOT IN (SELECT reason FROM runs UNION SELECT lacking FROM runs)")


def _size(connection: sqlite3.Connection) -> int:
    """Return the bytes of the file without its free pages."""
    count, free, size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (count - free) * size


def _shorten(connection: sqlite3.Connection) -> bool:
    """Forget the oldest runs of the environment that takes most room; tell whether anything was forgotten."""
    query = """
        SELECT id, (SELECT COALESCE(SUM(LENGTH(data) + 100), 0) FROM snapshots WHERE subject = subjects.id)
            + 100 * (SELECT COUNT(*) FROM runs WHERE subject = subjects.id)
            + (SELECT COALESCE(SUM(LENGTH(about) + LENGTH(message) + 200), 0)
                FROM episodes WHERE subject = subjects.id AND gone IS NOT NULL)
        FROM subjects ORDER BY 2 DESC"""
    return any(
        _forget(connection, number, _early(connection, number)) for number, _ in rows(connection, (int, int), query)
    )


def _early(connection: sqlite3.Connection, number: int) -> float:
    """Return the moment before which its oldest runs lie, an eighth of them."""
    (count,) = connection.execute("SELECT COUNT(*) FROM runs WHERE subject = ?", (number,)).fetchone()
    query = "SELECT at FROM runs WHERE subject = ? ORDER BY at LIMIT 1 OFFSET ?"
    return next((at for (at,) in rows(connection, (float,), query, number, count // _SHARE + 1)), 0.0)
