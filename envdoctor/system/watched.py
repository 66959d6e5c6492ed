"""Run a program that may hang, spin or fork, and see it to its end: its events, its last words, where it was stuck.

The doctor becomes the reaper of whatever the program leaves behind (PR_SET_CHILD_SUBREAPER, prctl(2)), so that no
descendant can get out of sight by losing its parent. The program itself dies with the doctor (PR_SET_PDEATHSIG).
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess  # noqa: TID251 - this is a module that may
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from envdoctor.errors import EnvDoctorError
from envdoctor.system.descendants import descendants, end_all, halt, uninterrupted
from envdoctor.system.prctl import adopt_orphans, die_with_parent

STACKS_SIGNAL = signal.SIGUSR2
"""Asks the program for the stacks of all its threads, if it has told faulthandler so."""
TAIL = 64 << 10
"""Bytes kept of what it printed last."""
STACKS = 512 << 10
"""Bytes kept of its stacks: of a deadlock two threads tell, anywhere among many."""
LINE = 1 << 20
"""Bytes of one event; a longer one is no event of ours."""
STACKS_WITHIN = 0.8
"""Seconds that it may take over its stacks."""
SUSPENDED = 1.0
"""Seconds between two looks beyond which the watch itself was stopped, as a batch system suspends a job."""
PULSE = 0.05
"""Seconds between two looks at whether it has ended."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended."""

    status: int | None
    """Exit status, negative for a signal; None if its time was over."""
    stacks: str = ""
    """What faulthandler wrote: at a crash, or when asked before the kill."""
    left: tuple[int, ...] = ()
    """Processes that would not die."""


class Watched:
    """A program under watch. Leaving the context ends it, whatever it is doing, with all its descendants.

    It finds two descriptors: argv may name them by `events` and `stacks`, which are known before it is started.
    """

    roots: ClassVar[set[int]] = set()
    """All programs under watch: what belongs to one is not ended with another."""

    def __init__(self) -> None:
        try:
            self.stacks = os.memfd_create("stacks")
            self.reading, self.events = os.pipe()
        except OSError as error:
            raise EnvDoctorError(f"no process can be watched here: {error.strerror or error}") from error
        self.ends = 0.0
        """Time (monotonic) at which its time is over; may be moved while it runs."""
        self.printed = bytearray()
        """The end of what it printed."""
        self.process: subprocess.Popen[bytes] | None = None
        self.strangers: frozenset[int] = frozenset()

    def __enter__(self) -> Self:
        """Become the reaper of orphans."""
        adopt_orphans()
        self.strangers = descendants({os.getpid()})
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing behind, not even at a second Ctrl-C."""
        with uninterrupted():
            self.end(ask=False)
        os.close(self.reading)
        os.close(self.stacks)
        self._close_events()
        if self.process is None:
            return
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def start(self, argv: Sequence[str], *, env: Mapping[str, str], cwd: str) -> None:
        """Start it in a process group of its own. Raises EnvDoctorError if it cannot be started."""
        try:
            self.process = subprocess.Popen(
                argv,
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(self.events, self.stacks),
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        except (OSError, ValueError) as error:
            raise EnvDoctorError(f"{argv[0]} did not start: {getattr(error, 'strerror', None) or error}") from error
        finally:
            self._close_events()
        Watched.roots.add(self.process.pid)

    def _close_events(self) -> None:
        """Close the program's end of the pipe, once: the number may be another file's by then."""
        if self.events >= 0:
            os.close(self.events)
        self.events = -1

    def order(self, line: str) -> None:
        """Give it its one line of input; that it has ended shows elsewhere."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.write(line.encode() + b"\n")
                self._process.stdin.close()

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of its events until it has ended or its time is over.

        What it printed before an event is in `printed` when the event is yielded.
        """
        process = self._process
        waiting = bytearray()
        printing = process.stdout.fileno() if process.stdout else -1
        with selectors.DefaultSelector() as selector:
            for descriptor in (printing, self.reading):
                os.set_blocking(descriptor, False)
                selector.register(descriptor, selectors.EVENT_READ)
            looked = time.monotonic()
            while True:
                over = process.poll() is not None
                selector.select(0 if over else PULSE)
                looked = self._awake(looked)
                # in this order: what was printed before an event has then been read before it
                waiting += _there(selector, self.reading)
                self.printed += _there(selector, printing)
                del self.printed[:-TAIL]
                yield from _cut(waiting)
                if over or time.monotonic() >= self.ends:
                    return
                if not selector.get_map():
                    time.sleep(PULSE)

    def _awake(self, looked: float) -> float:
        """Return the time; if this process was stopped since the last look, with its job, that time does not count."""
        now = time.monotonic()
        if now - looked > SUSPENDED:
            self.ends += now - looked
        return now

    @property
    def _process(self) -> subprocess.Popen[bytes]:
        if self.process is None:
            raise RuntimeError("not started")
        return self.process

    def end(self, *, ask: bool = True) -> Ended:
        """End it and all its descendants; if it had not ended by itself, ask for its stacks before."""
        if self.process is None:
            return Ended(None)
        status = self.process.poll()
        if status is None and ask:
            halt(lambda: self._others() | {self._process.pid})
            self._ask_for_stacks()
        left = end_all(self.process, self._others)
        Watched.roots.discard(self.process.pid)
        return Ended(status, self._stacks(), left)

    def _others(self) -> frozenset[int]:
        """Return the processes that are not of this program: those that were there, and what else is under watch."""
        return self.strangers | descendants(Watched.roots - {self._process.pid})

    def _ask_for_stacks(self) -> None:
        """Ask, then wake it up: a stopped process answers when it goes on, before it does anything else."""
        pid = self._process.pid
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, STACKS_SIGNAL)
            os.killpg(pid, signal.SIGCONT)
            os.kill(pid, signal.SIGCONT)
        give_up, seen = time.monotonic() + STACKS_WITHIN, -1
        while time.monotonic() < give_up and self._process.poll() is None:
            size = os.fstat(self.stacks).st_size
            if size and size == seen:
                return
            seen = size
            time.sleep(PULSE)

    def _stacks(self) -> str:
        """Return what was written: of very much the beginning and the end, where the main thread is."""
        size = os.fstat(self.stacks).st_size
        half = STACKS // 2
        parts = [(STACKS, 0)] if size <= STACKS else [(half, 0), (half, size - half)]
        return "\n\n".join(os.pread(self.stacks, *part).decode(errors="replace") for part in parts)


def _there(selector: selectors.BaseSelector, descriptor: int) -> bytes:
    """Read what a pipe holds, at most a MiB; one that is closed is watched no longer."""
    if descriptor not in selector.get_map():
        return b""
    try:
        block = os.read(descriptor, LINE)
    except BlockingIOError:
        return b""
    if not block:
        selector.unregister(descriptor)
    return block


def _cut(waiting: bytearray) -> Iterator[bytes]:
    """Take whole lines off the front."""
    while (at := waiting.find(b"\n")) >= 0:
        line = bytes(waiting[:at])
        del waiting[: at + 1]
        yield line
    if len(waiting) > LINE:
        waiting.clear()
