"""Open the state: transactions, what is damaged set aside, and every fault of SQLite's a StateError.

The rollback journal is used everywhere. A write-ahead log does not work over a network file system
(sqlite.org/wal.html), and a home that is local today may be served tomorrow; with one short transaction a run it would
win nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import UnionType
from typing import TYPE_CHECKING, Any, TypeVar

from envdoctor.state import schema
from envdoctor.state.place import BESIDE, DamagedError, StateError, examine, prepare

if TYPE_CHECKING:
    import sqlite3

Result = TypeVar("Result")
Nothing = TypeVar("Nothing")

PATIENCE = 3.0
"""Seconds to wait for another run's transaction."""
WORK = 20.0
"""Seconds that one transaction may compute: a file made to be slow ends nobody's run."""
LONGEST = 32 << 20
"""Bytes of one value. A whole snapshot of half a MB takes 60 kB."""
_NEVER = 253_402_300_800.0
"""The end of the year 9999, in seconds since the epoch: what datetime can say."""
_STEPS = 10_000
"""Instructions of SQLite's machine between two looks at the clock."""


def read(
    path: str, work: Callable[[sqlite3.Connection], Result], nothing: Nothing, *, oldest: int = schema.SCHEMA
) -> Result | Nothing:
    """Return what `work` reads in one transaction; `nothing` if there is no file, or one older than a schema.

    Writes nothing, except that SQLite takes back what a killed run had half written. Raises StateError.
    """
    if not examine(path):
        return nothing
    with _connected(path, "ro") as connection:
        try:
            connection.execute("BEGIN")
            return work(connection) if schema.version(connection, path) >= oldest else nothing
        except _errors() as error:
            if not _half_written(error):
                raise
    with _connected(path, "rw") as connection:
        connection.execute("BEGIN")
        return work(connection) if schema.version(connection, path) >= oldest else nothing


def _errors() -> type[sqlite3.Error]:
    import sqlite3

    return sqlite3.Error


def _half_written(error: sqlite3.Error) -> bool:
    """Tell whether a journal is left that only who may write can roll back (sqlite.org/rescode.html)."""
    import sqlite3

    return getattr(error, "sqlite_errorcode", 0) in (sqlite3.SQLITE_READONLY_ROLLBACK, sqlite3.SQLITE_CANTOPEN)


def write(path: str, work: Callable[[sqlite3.Connection], Result], now: float) -> tuple[Result, str | None]:
    """Return what `work` returns once all that it wrote is on disk, and what happened to a damaged file.

    `now`, in seconds since the epoch, names a file that is set aside. Raises StateError: then nothing is written.
    """
    before = _identity(path)
    try:
        return _write(path, work), None
    except DamagedError as damage:
        said = _set_aside(path, before, now, damage)
    return _write(path, work), said


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _write(path: str, work: Callable[[sqlite3.Connection], Result]) -> Result:
    prepare(path)
    with _connected(path, "rw") as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        if schema.version(connection, path) < schema.SCHEMA:
            # only a whole rewrite makes a file able to shrink page by page (sqlite.org/pragma.html#pragma_auto_vacuum)
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("VACUUM")
        connection.execute("BEGIN IMMEDIATE")
        schema.bring_up(connection, path)
        result = work(connection)
        connection.execute("COMMIT")
        if connection.execute("PRAGMA freelist_count").fetchone()[0] > _spare(connection):
            # it gives back a page a step, and `execute` takes one step of what has no columns
            connection.executescript("PRAGMA incremental_vacuum")
    return result


def _spare(connection: sqlite3.Connection) -> int:
    """Return how many free pages are kept for the next runs: an eighth."""
    return max(64, int(connection.execute("PRAGMA page_count").fetchone()[0]) // 8)


def _set_aside(path: str, before: tuple[int, int] | None, now: float, damage: DamagedError) -> str:
    """Rename a damaged file and what SQLite keeps beside it; say so. Another run may have done it meanwhile.

    The new file of that run must stay: `before` tells which one was damaged.
    """
    folder = os.path.dirname(path)
    aside = _unused(f"{path}.damaged-{int(now)}")
    try:
        with _alone(folder):
            if _identity(path) != before:
                return f"{path} was damaged ({damage}) and has been set aside by another run"
            for ending in (*BESIDE, ""):
                with contextlib.suppress(FileNotFoundError):
                    os.rename(path + ending, aside + ending)
    except OSError as error:
        raise StateError(f"{path}: damaged ({damage}), and cannot be set aside: {error.strerror}") from damage
    return f"{path} was damaged ({damage}) and is set aside as {os.path.basename(aside)}"


def _unused(path: str) -> str:
    number, found = 1, path
    while os.path.lexists(found):
        number += 1
        found = f"{path}-{number}"
    return found


@contextlib.contextmanager
def _alone(folder: str) -> Iterator[None]:
    """Keep others from setting aside at the same time; a file system without locks goes without."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _connected(path: str, mode: str) -> Iterator[sqlite3.Connection]:
    """Open the file; every fault of it becomes a StateError, and what is no database of ours a DamagedError."""
    import sqlite3
    from urllib.parse import quote

    try:
        address = f"file:{quote(os.fsencode(path))}?mode={mode}"
        connection = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
    except sqlite3.Error as error:
        raise StateError(f"{path}: {error}") from error
    try:
        _bound(connection)
        yield connection
    except sqlite3.OperationalError as error:
        raise StateError(f"{path}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise DamagedError(f"{path}: {error}") from error
    finally:
        connection.close()


Kind = type | UnionType


def rows(connection: sqlite3.Connection, kinds: Sequence[Kind], query: str, *values: object) -> list[Any]:
    """Return the rows of a query as tuples. Raises DamagedError if a column holds what is not of its kind.

    SQLite keeps any type in any column. A `float` is a moment or a duration, in seconds.
    """
    found = connection.execute(query, values).fetchall()
    fits = [_FITS.get(kind) or partial(_is, kind) for kind in kinds]
    for row in found:
        if not all(fit(value) for fit, value in zip(fits, row, strict=True)):
            raise DamagedError("holds what no run has written")
    return found


def _is(kind: Kind, value: object) -> bool:
    return isinstance(value, kind)


def _is_seconds(value: object) -> bool:
    return isinstance(value, (int, float)) and 0 <= value < _NEVER


_FITS: dict[Kind, Callable[[object], bool]] = {
    float: _is_seconds,
    float | None: lambda value: value is None or _is_seconds(value),
}


def _bound(connection: sqlite3.Connection) -> None:
    """Let no content of a file cost more than a little time and memory, or run what it brings."""
    import sqlite3

    ends = time.monotonic() + WORK
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    connection.set_progress_handler(lambda: time.monotonic() > ends, _STEPS)
    connection.text_factory = lambda data: data.decode(errors="replace")
    for setting in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"):
        connection.execute(f"PRAGMA {setting}")


def storable(text: str) -> str:
    """Make text storable that came from bytes that are no UTF-8 (PEP 383)."""
    return text.encode("utf-8", "backslashreplace").decode()
