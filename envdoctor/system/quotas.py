"""What disk quotas still let a user write: quotactl_fd(2) of Linux 5.14 and later, quotactl(2) for the numbers.

Local file systems answer (ext4, XFS, f2fs, tmpfs); NFS and Lustre keep their quotas to themselves, and some servers put
them into the free space that they tell. Quotas of projects are in the free space of ext4 and XFS already.
"""

from __future__ import annotations

import ctypes
import os
import struct
import time
from collections.abc import Iterable
from dataclasses import dataclass

_CALL = 443
"""Number of quotactl_fd, on every architecture (Linux, include/uapi/asm-generic/unistd.h)."""
_GET = 0x800007
_TYPES = {0: os.geteuid, 1: os.getegid}
"""USRQUOTA and GRPQUOTA, and whose is asked."""
_DQBLK = struct.Struct("=8QI4x")
"""struct if_dqblk of include/uapi/linux/quota.h."""
_UNIT = 1024
"""Bytes of a limit's block (QIF_DQBLKSIZE)."""


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of a quota."""

    size: int | None
    """Bytes; None where they are not limited."""
    files: int | None
    """Inodes, likewise."""


def left(folder: str) -> Left | None:
    """Return what quotas leave to this process in the file system of a directory; None if none is known to apply."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        answers = [_ask(descriptor, kind, who()) for kind, who in _TYPES.items()]
    finally:
        os.close(descriptor)
    return tightest(parse(data, time.time()) for data in answers if data)


def _ask(descriptor: int, kind: int, number: int) -> bytes:
    """Return what the kernel answers; b"" where quotas are not kept, or it is too old."""
    libc, buffer = ctypes.CDLL(None, use_errno=True), ctypes.create_string_buffer(_DQBLK.size)
    arguments = (ctypes.c_uint(descriptor), ctypes.c_uint(_GET << 8 | kind), ctypes.c_uint(number), buffer)
    return buffer.raw if libc.syscall(ctypes.c_long(_CALL), *arguments) == 0 else b""


def parse(data: bytes, now: float) -> Left:
    """Read the kernel's answer. Beyond a soft limit whose time is up nothing may be written, as beyond a hard one."""
    hard, soft, used, hard_files, soft_files, files, until, files_until, _ = _DQBLK.unpack(data)
    return Left(
        _rest(hard * _UNIT, soft * _UNIT, used, late=0 < until < now),
        _rest(hard_files, soft_files, files, late=0 < files_until < now),
    )


def _rest(hard: int, soft: int, used: int, *, late: bool) -> int | None:
    if soft and used > soft and late:
        return 0
    return max(hard - used, 0) if hard else None


def tightest(quotas: Iterable[Left]) -> Left | None:
    """Return what the tightest of several leaves; None if none limits anything."""
    found = list(quotas)
    size = min((quota.size for quota in found if quota.size is not None), default=None)
    files = min((quota.files for quota in found if quota.files is not None), default=None)
    return None if size is files is None else Left(size, files)
