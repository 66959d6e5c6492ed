"""What a process asks of the kernel about its family and its rights (prctl(2), capset(2) and their headers)."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 1, 4, 24
_PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 36, 37, 38, 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION_3 = 0x20080522
_CAPABILITIES = 64
"""Numbers that a capability may have; those that the kernel does not know are refused, which changes nothing."""


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends; for a child, before it begins its work."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


@contextlib.contextmanager
def adoption_kept() -> Iterator[None]:
    """Leave this process as it was: whether it adopts orphans outlives execve(2)."""
    import ctypes

    was = ctypes.c_int()
    ctypes.CDLL(None).prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(was), 0, 0, 0)
    try:
        yield
    finally:
        _prctl(_PR_SET_CHILD_SUBREAPER, was.value)


def gain_nothing() -> None:
    """Let no program that this process starts have more rights than it has itself, set-user-ID or not."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def hide_memory() -> None:
    """Let no other process of the same user look into this one."""
    _prctl(_PR_SET_DUMPABLE, 0)


def bound_capabilities() -> None:
    """Let no program that is started from here have any capability. Takes CAP_SETPCAP; without it, none can be got."""
    for capability in range(_CAPABILITIES):
        _prctl(_PR_CAPBSET_DROP, capability)


def drop_capabilities() -> None:
    """Give up every capability that this process has. Raises OSError."""
    import ctypes

    _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    if ctypes.CDLL(None, use_errno=True).capset(header, (ctypes.c_uint32 * 6)()) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)
