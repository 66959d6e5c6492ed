"""Let threads race, a fresh process a try, in caches that hold what they are to find."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from envdoctor.facts.smoke import IMPORT, TORCH, Attempt, Failure, attempted, parse
from envdoctor.facts.threads import CPU_GRAPHS, LEAST_STEPS, STEP, Race, Remedy, Setting, Start, State, Try, told
from envdoctor.smoke.caches import Caches
from envdoctor.smoke.run import Order, broken_off, start
from envdoctor.system.watched import Watched

FILLING = "filling the cache"
"""What stands for the device where that failed."""
STARTS: tuple[Start, ...] = ("together", "in turn")
"""By turns: some faults need threads that compile at once, others one that is well past it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be tried."""

    order: Order
    settings: tuple[Setting, ...]
    tries: int
    remedy: Remedy
    caches: Caches
    lost: Mapping[Setting, tuple[str, bool]]
    """Settings that cannot be tried, with the reason, and whether that is a failure."""
    flag: str = ""


@dataclass(slots=True)
class Racing:
    """A run: tries as they are made."""

    plan: Plan
    tell: Callable[[Try | Attempt], None]
    """Hears of each try, of each cache that was filled, of the first import, and of what failed otherwise."""
    done: list[Try] = field(default_factory=list)
    lost: dict[Setting, tuple[str, bool]] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)
    """The import, once; the filling of the cache, if it failed."""
    build: dict[str, Any] = field(default_factory=dict)

    def run(self) -> Race:
        """Make all tries. Raises EnvDoctorError if nothing can be started."""
        plan = self.plan
        self.lost |= plan.lost
        for setting in plan.settings:
            if setting not in self.lost and self._filled(setting.state):
                self._tried(setting)
        done = tuple(self.done)
        return Race(plan.settings, plan.tries, plan.remedy, done, self._unreached(), plan.flag, plan.order.limit)

    def keep(self, attempt: Attempt) -> None:
        """Keep what is no try; an import that failed takes the place of one that passed."""
        self.attempts = [*(one for one in self.attempts if one.step != attempt.step), attempt]
        self.tell(attempt)

    def _unreached(self) -> dict[Setting, tuple[str, bool]]:
        """Say why settings were not tried."""
        failed = next((one for one in self.attempts if one.state == "failed"), None)
        if failed is None:
            return self.lost
        why = "torch could not be imported" if failed.step == IMPORT else f"{failed.device} failed"
        made = {one.setting for one in self.done}
        return {one: (why, True) for one in self.plan.settings if one not in made} | self.lost

    @property
    def _stopped(self) -> bool:
        """True if what failed would only fail again."""
        return any(one.state == "failed" for one in self.attempts)

    def _filled(self, state: State) -> bool:
        """Have a copy of what the cache holds in this state; return whether there is one."""
        if self._stopped or self.plan.caches.has(state):
            return not self._stopped
        devices = self.plan.order.devices
        self.plan.caches.bring("cold")
        work = {"work": "fill", "devices": devices, "graphs": CPU_GRAPHS, "first": state == "partly"}
        process = _Process(self, work, self.plan.order.limit * len(devices))
        end = process.run()
        if end is not None and end.state == "passed":
            self.plan.caches.keep(state)
            said = (
                f"for {'the first device' if state == 'partly' else 'all devices'}, started in {process.started:.1f} s"
            )
            self.tell(Attempt(FILLING, STEP, "passed", round(process.seconds, 3), {"said": said}))
        elif not self._stopped:
            failure = process.failure if end is None else end.failure
            self.keep(Attempt(FILLING, STEP, "failed", round(process.seconds, 3), failure=failure))
        return not self._stopped

    def _tried(self, setting: Setting) -> None:
        """Make the tries of one setting; what torch does not have is skipped with its reason."""
        for number in range(1, self.plan.tries + 1):
            self.plan.caches.bring(setting.state)
            begin = _start(self.plan, number)
            process = _Process(self, self._work(setting, begin), self.plan.order.limit)
            end = process.run()
            if self._stopped:
                return
            if end is not None and end.state == "skipped":
                self.lost[setting] = (end.reason, False)
                return
            measured = told(end.detail) if end is not None and end.state == "passed" else None
            failure = process.failure if end is None else end.failure
            seconds, started = round(process.seconds, 3), round(process.started, 3)
            one = Try(setting, number, begin, seconds, measured, failure, started)
            self.done.append(one)
            self.tell(one)

    def _work(self, setting: Setting, begin: Start) -> dict[str, Any]:
        return {
            "work": "race",
            "devices": self.plan.order.devices,
            "graphs": CPU_GRAPHS,
            "per_device": setting.per_device,
            "steps": LEAST_STEPS,
            "remedy": self.plan.remedy,
            "start": begin,
        }


def _start(plan: Plan, number: int) -> Start:
    """Let threads start together and in turn by turns; those of a CPU in turn, since together they never meet there."""
    if plan.remedy == "barrier":
        return "held"
    return "in turn" if "cpu" in plan.order.devices else STARTS[(number - 1) % len(STARTS)]


@dataclass(slots=True)
class _Process:
    """One process: it imports torch, and does one piece of work."""

    racing: Racing
    work: Mapping[str, Any]
    limit: float
    """Seconds for the work; the import has those of the order."""
    seconds: float = 0.0
    """How long the work took."""
    failure: Failure | None = None
    """How it ended, if it told no end."""
    started: float = 0.0
    """Seconds that passed before the work."""

    def run(self) -> Attempt | None:
        """Return the end of its work, if it told one. An import that fails is kept as that."""
        order = self.racing.plan.order
        began = since = time.monotonic()
        begun, imported, end = False, False, None
        with Watched() as child:
            start(child, "racing", order)
            child.order(json.dumps(dict(self.work)))
            child.ends = began + order.limit
            for event in _events(child):
                if event["event"] == "begin":
                    if event["step"] == STEP and not begun:
                        begun, since = True, time.monotonic()
                        self.started = since - began
                        child.ends = since + self.limit
                    continue
                attempt = _attempt(event, child, self.work)
                if attempt is None:
                    continue
                if attempt.step == IMPORT and not imported:
                    self._import(attempt)
                    imported = attempt.state == "passed"
                    if not imported:
                        return None
                elif attempt.step == STEP and begun:
                    end = attempt
                    break
            ended = child.end(ask=end is None)
        self.seconds = time.monotonic() - since
        if end is None:
            printed = child.printed.decode(errors="replace")
            self.failure = broken_off(ended, printed, self.limit if imported else order.limit)
            if not imported:
                self._import(Attempt(TORCH, IMPORT, "failed", round(self.seconds, 3), failure=self.failure))
        return end

    def _import(self, attempt: Attempt) -> None:
        """Keep the first import, and one that fails."""
        if attempt.state == "failed":
            self.racing.keep(attempt)
        elif not self.racing.build:
            self.racing.build.update(attempt.detail or {"torch": ""})
            self.racing.keep(replace(attempt, detail={}))


def _events(child: Watched) -> Iterator[dict[str, Any]]:
    """Yield what the payload says; somebody else may write to the descriptor."""
    for line in child.lines():
        event = parse(line)
        if event is not None and not event["device"] and event["step"] in (IMPORT, STEP):
            yield event


def _attempt(event: Mapping[str, Any], child: Watched, work: Mapping[str, Any]) -> Attempt | None:
    """Read an end; None if it is none of the payload's."""
    try:
        attempt = attempted(event, child.printed.decode(errors="replace"))
        if attempt.step == STEP and attempt.state == "passed" and work["work"] == "race":
            told(attempt.detail)
    except ValueError:
        return None
    return attempt
