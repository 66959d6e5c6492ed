"""What is remembered between runs: one SQLite file a host, below XDG state. So far the marks of compile caches.

$HOME may be shared between nodes, so each host has a file of its own. Two runs at once are safe: SQLite locks the file,
and each change is one transaction. Reading never writes; a damaged file is set aside by the next run that writes.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from envdoctor.errors import EnvDoctorError

if TYPE_CHECKING:
    import sqlite3

SCHEMA = 1
EXPIRES = 30 * 86400.0
"""Seconds after which a mark that was not reached again is forgotten."""
PATIENCE = 3.0
"""Seconds to wait for another run's transaction."""
_TABLE = """
CREATE TABLE IF NOT EXISTS marks (
    host TEXT, user TEXT, target TEXT, torch TEXT, triton TEXT, arch TEXT,
    kind TEXT, device TEXT, keys INTEGER, bytes INTEGER, path TEXT, set_at REAL, reached_at REAL,
    PRIMARY KEY (host, user, target, torch, triton, arch, kind, device)
)"""
_KEY = "host = ? AND user = ? AND target = ? AND torch = ? AND triton = ? AND arch = ?"


class StateError(EnvDoctorError):
    """The state cannot be read or written. A check goes on without it."""


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


def path_of(env: Mapping[str, str], home: str, host: str) -> str:
    """Return the file of a host. A relative XDG_STATE_HOME is to be ignored (XDG base directory specification)."""
    state = env.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        state = os.path.join(home, ".local", "state")
    return os.path.join(state, "envdoctor", f"{re.sub(r'[^A-Za-z0-9._-]', '_', host)[:100] or 'host'}.sqlite")


def read(path: str, key: Key, now: float) -> tuple[Mark, ...]:
    """Return the marks that still hold; none if there is no file. Raises StateError if it cannot be read."""
    if not os.path.lexists(path):
        return ()
    with _opened(path, writing=False) as connection:
        _same_schema(connection, path)
        query = (
            f"SELECT kind, device, keys, bytes, path, set_at, reached_at FROM marks WHERE {_KEY} ORDER BY kind, device"  # noqa: S608 - _KEY is ours
        )
        rows = connection.execute(query, _bound(key)).fetchall()
    try:
        marks = [Mark(str(k), str(d), int(n), int(b), str(p), float(s), float(r)) for k, d, n, b, p, s, r in rows]
    except (TypeError, ValueError) as error:
        raise StateError(f"{path}: holds what no run has written: {error}") from error
    return tuple(mark for mark in marks if now - mark.reached_at <= EXPIRES)


def record(path: str, key: Key, present: Sequence[Mark], now: float, *, accept: bool = False) -> str | None:
    """Raise the marks to the present counts, or with `accept` make these the marks; forget those that have expired.

    Returns what happened to a damaged file. Raises StateError if nothing can be written.
    """
    said = None
    try:
        _record(path, key, present, now, accept=accept)
    except DamagedError as damage:
        aside = f"{path}.damaged-{int(now)}"
        try:
            os.replace(path, aside)
        except OSError as error:
            raise StateError(f"{path}: damaged, and cannot be set aside: {error.strerror}") from damage
        said = f"{path} was damaged ({damage}) and is set aside as {os.path.basename(aside)}"
        _record(path, key, present, now, accept=accept)
    return said


class DamagedError(StateError):
    """The file is no database of ours."""


def _record(path: str, key: Key, present: Sequence[Mark], now: float, *, accept: bool) -> None:
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    except OSError as error:
        raise StateError(f"{os.path.dirname(path)}: {error.strerror or error}") from error
    with _opened(path, writing=True) as connection:
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute("PRAGMA user_version").fetchone() == (0,):
            connection.execute(_TABLE)
            connection.execute(f"PRAGMA user_version = {SCHEMA}")
        _same_schema(connection, path)
        connection.execute("DELETE FROM marks WHERE reached_at < ?", (now - EXPIRES,))
        if accept:
            connection.execute(f"DELETE FROM marks WHERE {_KEY}", _bound(key))  # noqa: S608 - _KEY is ours
        for mark in present:
            _raise(connection, key, mark, now)
        connection.execute("COMMIT")


def _bound(key: Key) -> tuple[str, ...]:
    return tuple(_text(str(part)) for part in astuple(key))


def _text(value: str) -> str:
    """Make a path storable whose bytes are no UTF-8."""
    return value.encode("utf-8", "backslashreplace").decode()


def _raise(connection: sqlite3.Connection, key: Key, mark: Mark, now: float) -> None:
    """Set a mark that is not there or is passed; note that an equal one was reached again."""
    where = (*_bound(key), mark.kind, mark.device)
    query = f"SELECT keys FROM marks WHERE {_KEY} AND kind = ? AND device = ?"  # noqa: S608 - _KEY is ours
    row = connection.execute(query, where).fetchone()
    if row is not None and mark.keys < row[0]:
        return
    if row is not None and mark.keys == row[0]:
        query = f"UPDATE marks SET reached_at = ? WHERE {_KEY} AND kind = ? AND device = ?"  # noqa: S608
        connection.execute(query, (now, *where))
        return
    values = (*where, mark.keys, mark.size, _text(mark.path), now, now)
    connection.execute(f"INSERT OR REPLACE INTO marks VALUES ({', '.join('?' * len(values))})", values)  # noqa: S608


def _same_schema(connection: sqlite3.Connection, path: str) -> None:
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found != SCHEMA:
        raise StateError(f"{path}: schema {found}, and this envdoctor knows {SCHEMA}")


@contextlib.contextmanager
def _opened(path: str, *, writing: bool) -> Iterator[sqlite3.Connection]:
    """Open the file; every fault of it becomes a StateError, and what is no database a DamagedError."""
    import sqlite3
    from urllib.parse import quote

    if os.path.lexists(path) and not os.path.isfile(path):
        raise DamagedError(f"{path}: is not a regular file")
    mode = "rwc" if writing else "ro"
    try:
        address = f"file:{quote(os.fsencode(path))}?mode={mode}"
        connection = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
    except sqlite3.Error as error:
        raise StateError(f"{path}: {error}") from error
    try:
        yield connection
    except sqlite3.OperationalError as error:
        raise StateError(f"{path}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise DamagedError(f"{path}: {error}") from error
    finally:
        connection.close()
