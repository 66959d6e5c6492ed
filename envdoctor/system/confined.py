"""Have one answer from a child that may be in the hands of somebody else: it is data, of bounded size, and in time.

Whatever the child leaves behind is ended with it, wherever that has gone: this process adopts the orphans.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import time
from collections.abc import Callable
from typing import NoReturn

from envdoctor.errors import EnvDoctorError
from envdoctor.system.descendants import ENDING, descendants, end_all, uninterrupted
from envdoctor.system.host import write_all
from envdoctor.system.prctl import adopt_orphans

CAP = 16 << 20
"""Bytes of an answer."""
_LENGTH = 8
_PULSE = 0.1
"""Seconds between two looks at whether the child is still there."""


class _Child:
    """A forked child, as `end_all` wants one."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.status: int | None = None

    def poll(self) -> int | None:
        """Return how it ended, None while it lives."""
        if self.status is None:
            with contextlib.suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                self.status = os.waitstatus_to_exitcode(status) if pid else None
        return self.status


def answer(work: Callable[[], bytes], *, within: float) -> bytes:
    """Return what `work` returns, called in a child without a terminal and without any descriptor of ours.

    Raises EnvDoctorError if there is none after so many seconds, or it is too long, or the child died.
    """
    adopt_orphans()
    others = descendants({os.getpid()})
    reading, writing = os.pipe()
    with uninterrupted():
        pid = os.fork()
        if pid == 0:
            _serve(work, writing)
        os.close(writing)
        child = _Child(pid)
    try:
        return _received(child, reading, within)
    finally:
        with uninterrupted():
            os.close(reading)
            if _ended(child) != 0 or descendants({os.getpid()}) - others:
                end_all(child, lambda: others)


def _serve(work: Callable[[], bytes], writing: int) -> NoReturn:
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        _close_all_but(writing)
        data = work()
        write_all(writing, len(data).to_bytes(_LENGTH, "big") + data)
    finally:
        os._exit(0)


def _close_all_but(kept: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        if number != kept:
            os.dup2(nothing, number)
    os.closerange(3, kept)
    os.closerange(max(kept, 2) + 1, os.sysconf("SC_OPEN_MAX"))


def _received(child: _Child, reading: int, within: float) -> bytes:
    ends = time.monotonic() + within
    data = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(reading, selectors.EVENT_READ)
        while True:
            ended = child.poll()
            ready = selector.select(0 if ended is not None else max(0.0, min(_PULSE, ends - time.monotonic())))
            block = os.read(reading, 1 << 20) if ready else b""
            data += block
            size = int.from_bytes(data[:_LENGTH], "big") if len(data) >= _LENGTH else None
            if size is not None and size > CAP:
                raise EnvDoctorError(f"the answer has {size:,} bytes, more than any should ({CAP:,})")
            if size is not None and len(data) >= size + _LENGTH:
                return bytes(data[_LENGTH : size + _LENGTH])
            if not block and (ready or ended is not None):
                raise EnvDoctorError(f"the process that looked at it died{_by_signal(child)}")
            if time.monotonic() >= ends:
                raise EnvDoctorError(f"no answer within {within:.3g} s")


def _ended(child: _Child) -> int | None:
    """Return how a child ended that has nothing more to do; None if it lives on."""
    give_up = time.monotonic() + _PULSE
    while (status := child.poll()) is None and time.monotonic() < give_up:
        time.sleep(_PULSE / 50)
    return status


def _by_signal(child: _Child) -> str:
    status = _ended(child)
    return f" (signal {-status})" if status is not None and status < 0 else ""
