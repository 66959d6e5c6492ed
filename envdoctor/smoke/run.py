"""Run the payload until every device has had its turn, whatever becomes of the processes in between."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from envdoctor.facts.smoke import FRESH, IMPORT, STEPS, TORCH, Attempt, Failure, Level, Smoke, attempted, parse
from envdoctor.system.watched import STACKS_SIGNAL, Ended, Watched

PAYLOAD = os.path.join(os.path.dirname(os.path.dirname(__file__)), "payloads", "smoke", "main.py")
Work = Literal["turns", "racing"]
"""What the payload is to do, a module of it."""
Phase = Literal["first", "again"]


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be tried out."""

    python: str
    devices: tuple[str, ...]
    level: Level
    env: Mapping[str, str]
    """The job's variables, with what moves the cache."""
    cwd: str
    scratch: str
    """A directory for temporary files, removed after the run."""
    limit: float
    """Seconds that any one step may take, the start of a process with the import of torch being one."""
    own_cache: bool = True


def smoke(order: Order, tell: Callable[[Attempt], None]) -> Smoke:
    """Try everything out; `tell` hears of each step as it ends. Raises EnvDoctorError if nothing can be started."""
    with ExitStack() as stack:
        work = _Work(order, tell, stack)
        first = work.phase("first", order.devices, STEPS[order.level])
        work.flex = tuple(_compiled(first, "flex-attention"))
        again = work.phase("again", _compiled(first, "compile"), (FRESH,))
    attempts = _in_order(order, [*first, *again, *_not_reached(order, [*first, *again])])
    cache = str(work.build.pop("cache", ""))
    return Smoke(order.level, order.devices, tuple(attempts), work.build, cache, order.own_cache, order.limit)


def _compiled(attempts: Iterable[Attempt], step: str) -> list[str]:
    """Return the devices on which a step passed, with something compiled."""
    return [a.device for a in attempts if a.step == step and a.state == "passed" and not a.eager]


def _in_order(order: Order, attempts: Iterable[Attempt]) -> list[Attempt]:
    """Sort by device and step, as they were asked for; the import comes first."""
    steps, devices = (IMPORT, *STEPS[order.level], FRESH), (TORCH, *order.devices)
    return sorted(attempts, key=lambda attempt: (devices.index(attempt.device), steps.index(attempt.step)))


def _not_reached(order: Order, attempts: Sequence[Attempt]) -> Iterable[Attempt]:
    """Name every step that was asked for and not reached: unknown is never healthy."""
    done = {(attempt.device, attempt.step) for attempt in attempts}
    lost = any(attempt.device == TORCH and attempt.state == "failed" for attempt in attempts)
    for device in order.devices:
        failures = [a.step for a in attempts if a.device == device and (a.state == "failed" or a.eager)]
        failed = "compile" if "compile" in failures else next(iter(failures), None)
        why = f"{failed} failed" if failed else "torch could not be imported" if lost else "it was not reached"
        for step in (*STEPS[order.level], FRESH):
            if (device, step) not in done:
                yield Attempt(device, step, "never-ran", detail={"reason": why})


@dataclass(slots=True)
class _Work:
    """All processes of a run."""

    order: Order
    tell: Callable[[Attempt], None]
    stack: ExitStack
    """Ends every process when the run is over."""
    build: dict[str, Any] = field(default_factory=dict)
    flex: tuple[str, ...] = ()
    """Devices whose flex_attention is in the cache, so that a fresh process can look for it there."""
    standby: Watched | None = None
    """The fresh process, which imports torch while the first one works: it compiles nothing before it is told to."""

    def phase(self, phase: Phase, devices: Sequence[str], steps: Sequence[str]) -> list[Attempt]:
        """Use as many processes as it takes to begin with every device; one ends where a device fails."""
        pending, found = list(devices), list[Attempt]()
        while pending:
            turn = _Turn(self, phase, tuple(pending), tuple(steps))
            turn.run()
            found += turn.attempts
            begun = {attempt.device for attempt in turn.attempts}
            if begun.isdisjoint(pending):
                break
            pending = [device for device in pending if device not in begun]
        return found

    def start(self) -> Watched:
        """Start a process, which imports torch and waits for its order."""
        child = self.stack.enter_context(Watched())
        start(child, "turns", self.order)
        return child


@dataclass(slots=True)
class _Turn:
    """One process."""

    work: _Work
    phase: Phase
    devices: tuple[str, ...]
    steps: tuple[str, ...]
    attempts: list[Attempt] = field(default_factory=list)
    at: tuple[str, str] | None = ("", IMPORT)
    """(device, step) under way."""
    begun: set[tuple[str, str]] = field(default_factory=set)
    """(device, step) whose time has begun: once each."""
    since: float = 0.0

    def run(self) -> None:
        """See the process to its end."""
        child, self.work.standby = self.work.standby or self.work.start(), None
        order = {"devices": self.devices, "steps": self.steps, "flex": self.work.flex}
        child.order(json.dumps(order))
        self.since = time.monotonic()
        child.ends = self.since + self.work.order.limit
        for line in child.lines():
            self._event(parse(line), child)
        unfinished = self.at is not None or self._missing()
        ended = child.end()
        if unfinished:
            self._broken_off(ended, child.printed.decode(errors="replace"))

    def _event(self, event: dict[str, Any] | None, child: Watched) -> None:
        if event is None:
            return
        device, step = event["device"], event["step"]
        if (device, step) not in self._asked() and (device, step) != ("", IMPORT):
            return  # somebody else writes to the descriptor
        if event["event"] == "begin":
            if (device, step) in self.begun:
                return
            self.begun.add((device, step))
            self.at, self.since = (device, step), time.monotonic()
            child.ends = max(child.ends, self.since + self.work.order.limit) if step != IMPORT else child.ends
            if step == "compile" and self.work.standby is None:
                self.work.standby = self.work.start()
            return
        try:
            attempt = attempted(event, child.printed.decode(errors="replace"))
        except ValueError:
            return  # no event of ours: the step is still under way
        self.at = None
        child.printed.clear()
        if step == IMPORT and attempt.state == "passed":
            if self.work.build:
                return  # the first process has told of it
            self.work.build.update(attempt.detail)
            attempt = replace(attempt, detail={})
        self._keep(attempt)

    def _keep(self, attempt: Attempt) -> None:
        if attempt.step == IMPORT and self.phase == "again":  # it went well before: the fresh process is at fault
            attempt = replace(attempt, device=self.devices[0], step=FRESH)
        self.attempts.append(attempt)
        self.work.tell(attempt)

    def _missing(self) -> bool:
        """Tell whether the process ended before its work was done, and not because a step failed."""
        done = {(attempt.device, attempt.step) for attempt in self.attempts}
        return not done.issuperset(self._asked()) and not any(attempt.state == "failed" for attempt in self.attempts)

    def _asked(self) -> list[tuple[str, str]]:
        return [(device, step) for device in self.devices for step in self.steps]

    def _broken_off(self, ended: Ended, printed: str) -> None:
        """Record the step in which the process died or was ended."""
        device, step = self.at or self._next()
        seconds = time.monotonic() - self.since
        failure = broken_off(ended, printed, self.work.order.limit)
        self._keep(Attempt(device or TORCH, step, "failed", round(seconds, 3), failure=failure))

    def _next(self) -> tuple[str, str]:
        done = {(attempt.device, attempt.step) for attempt in self.attempts}
        return next(pair for pair in self._asked() if pair not in done)


def start(child: Watched, work: Work, order: Order) -> None:
    """Start the payload under watch. Raises EnvDoctorError if it cannot be started."""
    numbers = (child.events, child.stacks, int(STACKS_SIGNAL))
    child.start([order.python, PAYLOAD, *map(str, numbers), order.scratch, work], env=order.env, cwd=order.cwd)


def broken_off(ended: Ended, printed: str, limit: float) -> Failure:
    """Say how a process ended that did not do its work within `limit` seconds."""
    hung = ended.status is None
    message = f"no end within {limit:g} s" if hung else _death(ended.status or 0)
    return Failure("hung" if hung else "died", message=message, printed=printed, stacks=ended.stacks, left=ended.left)


def _death(status: int) -> str:
    if status >= 0:
        return f"the process ended with status {status} before its work was done"
    try:
        return f"the process died by {signal.Signals(-status).name}"
    except ValueError:
        return f"the process died by signal {-status}"
