"""Open what claims to be a lock file, without hanging on it or filling memory with it."""

from __future__ import annotations

import os
import stat

from envdoctor.errors import LockError

LIMIT = 32 << 20
"""Bytes. Real locks stay under one MiB; what is larger than this is something else."""
LINE = 1 << 20
"""Characters of one line of a requirements lock."""
PINS = 20_000
"""Packages of one lock. A large universal lock has under a thousand."""
_KINDS = ((stat.S_ISDIR, "a directory"), (stat.S_ISFIFO, "a FIFO"))


def read_bytes(path: str) -> bytes:
    """Return a regular file's bytes. Raises LockError: not there, unreadable, not a regular file, larger than LIMIT."""
    try:
        # O_NONBLOCK: opening a FIFO that nobody writes to would otherwise wait for ever
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return _contents(path, descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise LockError(path, _reason(error)) from error
    except ValueError as error:  # a NUL byte, or a character that the file system's encoding lacks
        raise LockError(path, "is no possible file name") from error


def _contents(path: str, descriptor: int) -> bytes:
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        kind = next((name for test, name in _KINDS if test(mode)), "a device")
        raise LockError(path, f"is {kind}, not a lock file")
    data = bytearray()
    while block := os.read(descriptor, 1 << 20):
        data += block
        if len(data) > LIMIT:
            raise LockError(path, f"is larger than {LIMIT >> 20} MiB, which no lock is")
    return bytes(data)


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file; name a pylock.toml, uv.lock or hashed requirements file"
    return f"cannot be read: {error.strerror or error}"


def below(root: str, path: str) -> str | None:
    """Return the real path if it lies below `root` (itself a real path), None if it does not or is impossible."""
    try:
        real = os.path.realpath(path)
    except (OSError, ValueError):
        return None
    return real if os.path.commonpath([root, real]) == root else None
