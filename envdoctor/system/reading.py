"""Read a file that somebody else may have put there: it is regular, of bounded size, and cannot make us wait."""

from __future__ import annotations

import os
import stat


def regular(path: str, limit: int) -> bytes:
    """Return a regular file's bytes.

    Raises OSError if it cannot be opened, ValueError if it is something else (a FIFO would never end, a device has no
    end) or holds more than `limit` bytes: a sparse file of terabytes costs its maker nothing.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("is not a regular file")
        if status.st_size > limit:
            raise ValueError(f"holds {status.st_size:,} bytes, more than any should ({limit:,})")
        with open(descriptor, "rb", closefd=False) as stream:
            return stream.read(limit)
    finally:
        os.close(descriptor)
