"""What a process asks of the kernel about its family (prctl(2), numbers of linux/prctl.h)."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 1, 36, 37


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


def _prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
