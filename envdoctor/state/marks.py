"""The marks of compile caches: the highest counts of keys that were seen, for as long as they are reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from envdoctor.state import database

if TYPE_CHECKING:
    import sqlite3

EXPIRES = 30 * 86400.0
"""Seconds after which a mark that was not reached again is forgotten."""
_KEY = "host = ? AND user = ? AND target = ? AND torch = ? AND triton = ? AND arch = ?"


@dataclass(frozen=True, slots=True)
class Key:
    """For whom a mark holds."""

    host: str
    user: str
    """User id."""
    target: str
    torch: str
    triton: str
    arch: str
    """Compute capabilities of the GPUs; "" without any."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The highest count of keys that was seen."""

    kind: str
    """`aotautograd`, `fxgraph` or `triton`."""
    device: str
    """`cuda:3`; "" for all devices together."""
    keys: int
    size: int
    """Bytes of the cache when it was reached. They say nothing of warmth and are for people."""
    path: str
    """Where the cache lay."""
    set_at: float
    """Seconds since the epoch."""
    reached_at: float
    """When it was last reached again."""


def read(path: str, key: Key, now: float) -> tuple[Mark, ...]:
    """Return the marks that still hold; none if there is no file. Raises StateError if it cannot be read."""
    marks = database.read(path, lambda connection: _read(connection, key), (), oldest=1)
    return tuple(mark for mark in marks if now - mark.reached_at <= EXPIRES)


def _read(connection: sqlite3.Connection, key: Key) -> tuple[Mark, ...]:
    query = f"SELECT kind, device, keys, bytes, path, set_at, reached_at FROM marks WHERE {_KEY} ORDER BY kind, device"  # noqa: S608 - _KEY is ours
    kinds = (str, str, int, int, str, float, float)
    return tuple(Mark(*row) for row in database.rows(connection, kinds, query, *_bound(key)))


def record(path: str, key: Key, present: Sequence[Mark], now: float, *, accept: bool = False) -> str | None:
    """Raise the marks to the present counts, or with `accept` make these the marks; forget those that have expired.

    Returns what happened to a damaged file. Raises StateError if nothing can be written.
    """
    return database.write(path, lambda connection: _record(connection, key, present, now, accept=accept), now)[1]


def _record(connection: sqlite3.Connection, key: Key, present: Sequence[Mark], now: float, *, accept: bool) -> None:
    connection.execute("DELETE FROM marks WHERE reached_at < ?", (now - EXPIRES,))
    if accept:
        connection.execute(f"DELETE FROM marks WHERE {_KEY}", _bound(key))  # noqa: S608 - _KEY is ours
    for mark in present:
        _raise(connection, key, mark, now)


def _bound(key: Key) -> tuple[str, ...]:
    return tuple(database.storable(str(part)) for part in astuple(key))


def _raise(connection: sqlite3.Connection, key: Key, mark: Mark, now: float) -> None:
    """Set a mark that is not there or is passed; note that an equal one was reached again."""
    where = (*_bound(key), mark.kind, mark.device)
    query = f"SELECT keys FROM marks WHERE {_KEY} AND kind = ? AND device = ?"  # noqa: S608 - _KEY is ours
    before = max((keys for (keys,) in database.rows(connection, (int,), query, *where)), default=-1)
    if mark.keys < before:
        return
    if mark.keys == before:
        query = f"UPDATE marks SET reached_at = ? WHERE {_KEY} AND kind = ? AND device = ?"  # noqa: S608
        connection.execute(query, (now, *where))
        return
    values = (*where, mark.keys, mark.size, database.storable(mark.path), now, now)
    connection.execute(f"INSERT OR REPLACE INTO marks VALUES ({', '.join('?' * len(values))})", values)  # noqa: S608
