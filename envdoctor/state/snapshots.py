"""Recorded snapshots: a whole one now and then, and between them what differs from it.

A difference is the snapshot compressed by zstd with the whole one as its prefix, as `zstd --patch-from` does (zstd(1)):
two steps rebuild any of them. What is the same but for what changes in every run is kept once.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from envdoctor.errors import UsageError
from envdoctor.state import database, subjects
from envdoctor.state.database import rows
from envdoctor.state.place import DamagedError
from envdoctor.state.values import Subject

if TYPE_CHECKING:
    import sqlite3

    from envdoctor.recorded import Recorded

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

RESTLESS = (
    ("taken_at",),
    ("facts", "cache_marks", "marks", "*", "reached_at"),
    ("facts", "compile_caches", "taken_at"),
    ("facts", "compile_caches", "caches", "*", "locks", "*", "age"),
    ("facts", "compile_caches", "caches", "*", "users"),
    ("facts", "driver", "gpus", "*", "memory_free"),
    ("facts", "driver", "gpus", "*", "processes"),
    ("facts", "gpu_use", "holders"),
    ("facts", "node", "limits"),
    ("facts", "node", "memory_used"),
    *(("facts", "node", "spaces", "*", name) for name in ("free", "inodes_free", "quota", "quota_inodes")),
)
"""What says how busy a machine is just then, or what the look itself was allowed, and nothing of the environment.

`*` stands for every item of a list."""
LONGEST = 16 << 20
"""Bytes of a snapshot that is kept. One of 197 packages has half a MB."""
LARGEST = 4 << 20
"""The same once it is compressed."""
RENEW = 4
"""A difference of more than one part in so many of the whole snapshot is replaced by a new whole one."""
_WIDEST = (2 * LONGEST).bit_length()
"""Power of two of the window that is needed at most, and so of the memory."""
LEVEL = 9
"""Of compression: a whole one takes some milliseconds."""


class TooLargeError(Exception):
    """A snapshot that nobody would want to keep."""


def put(connection: sqlite3.Connection, subject: int, recorded: Recorded) -> int:
    """Keep a snapshot; return its id. Raises TooLargeError."""
    from envdoctor.recorded import document as document_of

    document = document_of(recorded)
    text = _text(document)
    if len(text) > LONGEST:
        raise TooLargeError
    steady = _digest(_text(_rested(document)))
    query = "SELECT id FROM snapshots WHERE subject = ? AND steady = ? ORDER BY id DESC LIMIT 1"
    for (known,) in rows(connection, (int,), query, subject, steady):
        return int(known)
    base, data = _packed(connection, subject, text)
    if len(data) > LARGEST:
        raise TooLargeError
    connection.execute(
        "INSERT INTO snapshots (subject, base, digest, steady, size, data) VALUES (?, ?, ?, ?, ?, ?)",
        (subject, base, _digest(text), steady, len(text), data),
    )
    return subjects.last_row(connection)


def _packed(connection: sqlite3.Connection, subject: int, text: bytes) -> tuple[int | None, bytes]:
    """Return the id of the whole snapshot that a difference goes by, and the difference; None for a whole one."""
    query = "SELECT id, size, digest, data FROM snapshots WHERE subject = ? AND base IS NULL ORDER BY id DESC LIMIT 1"
    for number, size, digest, packed in rows(connection, (int, int, bytes, bytes), query, subject):
        difference = _compressed(text, _unpacked(packed, size, digest))
        if len(difference) * RENEW <= len(packed):
            return number, difference
    return None, _compressed(text)


def at(path: str, subject: Subject, when: datetime | int) -> Recorded | None:
    """Return what was observed by a run: the one of this id, or the youngest until a moment. None if there is none.

    What changes in every run (`RESTLESS`) may be as an earlier run saw it. Raises StateError, also for a snapshot that
    is not what was written.
    """
    from envdoctor.recorded import parse

    found = database.read(path, lambda connection: _found(connection, subject, when), None)
    if found is None:
        return None
    taken, text = found
    try:
        document = json.loads(text)
        document["taken_at"] = subjects.moment_of(taken).replace(microsecond=0).isoformat()
        return parse(_text(document), path)
    except (UsageError, ValueError, TypeError, RecursionError) as error:
        raise DamagedError(f"{path}: a snapshot of it cannot be read: {error}") from error


def _found(connection: sqlite3.Connection, subject: Subject, when: datetime | int) -> tuple[float, bytes] | None:
    asked, value = ("id = ?", when) if isinstance(when, int) else ("at <= ?", when.timestamp())
    query = f"SELECT at, snapshot FROM runs WHERE subject = ? AND snapshot IS NOT NULL AND {asked}"  # noqa: S608 - ours
    kinds = (float, int)
    number = subjects.number_of(connection, subject)
    for taken, snapshot in rows(connection, kinds, f"{query} ORDER BY at DESC, id DESC LIMIT 1", number, value):
        return taken, rebuilt(connection, snapshot)
    return None


def rebuilt(connection: sqlite3.Connection, number: int) -> bytes:
    """Rebuild the text of a snapshot, and hold it to its digest. Raises DamagedError."""
    query = "SELECT base, size, digest, data FROM snapshots WHERE id = ?"
    kinds = (int | None, int, bytes, bytes)
    for base, size, digest, data in rows(connection, kinds, query, number):
        if base is None:
            return _unpacked(data, size, digest)
        for none, whole_size, whole_digest, whole in rows(connection, kinds, query, base):
            if none is None:
                return _unpacked(data, size, digest, _unpacked(whole, whole_size, whole_digest))
    raise DamagedError("a snapshot is not there, or lacks the whole one that it differs from")


def _rested(document: Any) -> Any:  # noqa: ANN401 - JSON values
    """Take out of a snapshot what changes in every run. Changes what it is given."""
    for where in RESTLESS:
        _remove(document, where)
    return document


def _remove(value: Any, where: Sequence[str]) -> None:  # noqa: ANN401 - JSON values
    key, rest = where[0], where[1:]
    if key == "*":
        for item in value if isinstance(value, list) else ():
            _remove(item, rest)
    elif isinstance(value, dict) and key in value:
        if rest:
            _remove(value[key], rest)
        else:
            del value[key]


def _text(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def _digest(text: bytes) -> bytes:
    return hashlib.sha256(text).digest()


def _compressed(text: bytes, prefix: bytes = b"") -> bytes:
    knob = zstd.CompressionParameter
    if not prefix:
        return zstd.compress(text, LEVEL)
    options: dict[int, int] = {knob.compression_level: LEVEL, knob.window_log: _window(len(text) + len(prefix))}
    known = zstd.ZstdDict(prefix, is_raw=True).as_prefix
    return zstd.compress(text, options=options, zstd_dict=known)


def _window(size: int) -> int:
    """Return the window, as a power of two, that reaches over so many bytes."""
    return min(_WIDEST, max(17, size.bit_length()))


def _unpacked(data: bytes, size: int, digest: bytes, prefix: bytes = b"") -> bytes:
    """Unpack as many bytes as were packed, and no more. Raises DamagedError if they are not what was packed."""
    try:
        known = zstd.ZstdDict(prefix, is_raw=True).as_prefix if prefix else None
        unpacker = zstd.ZstdDecompressor(known, {zstd.DecompressionParameter.window_log_max: _WIDEST})
        text = unpacker.decompress(data, max_length=min(max(size, 0), LONGEST) + 1)
    except (zstd.ZstdError, ValueError) as error:
        raise DamagedError(f"a snapshot cannot be unpacked: {error}") from error
    if _digest(text) != digest:
        raise DamagedError("a snapshot is not what was written: its checksum differs")
    return text
