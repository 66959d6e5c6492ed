"""All processes that come from this one: find them, stop them, end them, though they fork meanwhile."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Signals by which a person or a system ends a command."""
HALT_WITHIN = 0.5
"""Seconds that it may take to stop those that fork."""
END_WITHIN = 1.0
"""Seconds that the killing may take."""
SURE = 2
"""Looks at /proc in a row that must show nothing."""


class Ending(Protocol):
    """A child of this process, as subprocess.Popen is one."""

    pid: int

    def poll(self) -> int | None:
        """Return how it ended, None while it lives; reaps it."""


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back the signals that end the doctor, so that a second Ctrl-C leaves no clearing up half done."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def end_all(process: Ending, spared: Callable[[], frozenset[int]]) -> tuple[int, ...]:
    """Kill every descendant of this process that is not spared, until none is left; return those that would not die.

    All are stopped before the first is killed: those that fork come to a halt, where they would outrun the killing.
    """
    halt(spared)
    give_up = time.monotonic() + END_WITHIN
    sure = 0
    while True:
        if process.poll() is None:
            _signal(process.pid, signal.SIGKILL, frozenset())
        others = spared()
        left = descendants({os.getpid()}) - others
        for pid in left:
            _signal(pid, signal.SIGKILL, others)
        process.poll()
        left = frozenset(pid for pid in left if pid != process.pid and not _reaped(pid))
        # /proc changes while it is read: one that forked meanwhile may show at the second look alone
        sure = sure + 1 if not left and process.poll() is not None else 0
        if sure == SURE:
            return ()
        if time.monotonic() > give_up:
            return tuple(sorted(left))
        time.sleep(0.002)


def halt(spared: Callable[[], frozenset[int]]) -> None:
    """Stop every descendant that is not spared, again and again until no new one shows up."""
    give_up = time.monotonic() + HALT_WITHIN
    halted: set[int] = set()
    sure = 0
    while sure < SURE and time.monotonic() < give_up:
        others = spared()
        new = descendants({os.getpid()}) - others - halted
        for pid in new:
            _signal(pid, signal.SIGSTOP, others)
        halted |= new
        sure = 0 if new else sure + 1


def _signal(pid: int, number: int, spared: frozenset[int]) -> None:
    """Signal a process with its group, which outruns forking within it; alone, if the group is that of a spared one."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        group = os.getpgid(pid)
        if group != os.getpgid(0) and group not in spared:
            os.killpg(group, number)
        os.kill(pid, number)


def _reaped(pid: int) -> bool:
    """Reap an orphan that has become ours; False while it lives, or while another has to reap it first."""
    try:
        return bool(os.waitpid(pid, os.WNOHANG)[0])
    except ChildProcessError:
        return False


def descendants(roots: Iterable[int]) -> frozenset[int]:
    """Return the processes below these, those themselves included but for this one.

    Read off /proc (proc_pid_stat(5)), two fields each: who races with forking processes has no time to make objects.
    Nothing is returned where /proc is that of another PID namespace, whose numbers mean other processes here.
    """
    if os.readlink("/proc/self") != str(os.getpid()):
        return frozenset()
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, ValueError), open(f"/proc/{entry}/stat", "rb") as stream:
                # the name, in parentheses, may hold anything
                parent = int(stream.read(1024).rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry))
    found: set[int] = set()
    pending = list(roots)
    while pending:
        pid = pending.pop()
        found.add(pid)
        pending += [child for child in children.get(pid, ()) if child not in found]
    return frozenset(found - {os.getpid()})
