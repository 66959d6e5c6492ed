"""Read a file that somebody else may have put there: it is regular, of bounded size, and cannot make us wait."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import BinaryIO


def regular(path: str, limit: int, *, follow: bool = True) -> bytes:
    """Return a regular file's bytes; a link counts as something else unless it is to be followed.

    Raises OSError if it cannot be opened, ValueError if it is something else (a FIFO would never end, a device has no
    end) or holds more than `limit` bytes: a sparse file of terabytes costs its maker nothing.
    """
    with opened(path, follow=follow) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > limit:
            raise ValueError(f"holds {size:,} bytes, more than any should ({limit:,})")
        return stream.read(limit)


def head(path: str, limit: int) -> bytes:
    """Return the first bytes of a regular file, at most `limit`; b"" if it is none or cannot be read."""
    try:
        with opened(path) as stream:
            return stream.read(limit)
    except (OSError, ValueError):
        return b""


def blocks(path: str, size: int = 1 << 20) -> Iterator[bytes]:
    """Yield the bytes that a regular file holds when it is opened, in blocks: a running job may write on.

    Raises OSError if it cannot be opened or read, ValueError if it is something else, or one of the kernel's own files:
    those have no size, and what they hold (a process' environment, the kernel's messages) is nobody's log.
    """
    with opened(path) as stream:
        if _of_the_kernel(stream.fileno()):
            raise ValueError("is not a log file")
        left = os.fstat(stream.fileno()).st_size
        while left > 0 and (block := stream.read(min(size, left))):
            left -= len(block)
            yield block


def _of_the_kernel(descriptor: int) -> bool:
    """Tell by the file system, without reading: a read from /proc/kmsg takes the messages away from who waits for them.

    A file elsewhere that has bytes and still no size is of that kind too (a control group, another /proc).
    """
    said = os.fstat(descriptor)
    if any(said.st_dev == _device_of(point) for point in ("/proc", "/sys")):
        return True
    if said.st_size:
        return False
    try:
        read = os.pread(descriptor, 1, 0)
    except OSError:
        return True
    return bool(read) and not os.fstat(descriptor).st_size


def _device_of(path: str) -> int | None:
    try:
        return os.stat(path).st_dev
    except OSError:
        return None


def opened(path: str, *, follow: bool = True) -> BinaryIO:
    """Open a regular file for reading, and nothing else.

    Raises OSError if it cannot be opened (ELOOP for a link that is not to be followed), ValueError for something else.
    """
    return open(descriptor(path, follow=follow)[0], "rb")


def descriptor(path: str, *, follow: bool = True) -> tuple[int, os.stat_result]:
    """Open as `opened` does, for those that read thousands of files; return the status too."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    found = os.open(path, flags)
    status = os.fstat(found)
    if not stat.S_ISREG(status.st_mode):
        os.close(found)
        raise ValueError("is not a regular file")
    return found, status
