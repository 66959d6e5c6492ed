"""`envdoctor smoke --level threads`: what is to race, under which remedy, and what of it the report shows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from envdoctor import guarding, snapshot
from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.facts.smoke import TORCH, Attempt, Smoke
from envdoctor.facts.threads import CPU_GRAPHS, STATES, STEP, Race, Remedy, Setting, Start, State, Try
from envdoctor.model import TrialState, Unavailable
from envdoctor.smoke.caches import Caches
from envdoctor.smoke.devices import CPU
from envdoctor.smoke.racing import Plan, Racing
from envdoctor.smoke.run import Order
from envdoctor.views.races import OPEN, SAID, WELL, Verdict, result, verdicts

MOST_THREADS = 16
"""Threads a device that one run may ask for."""
STARTED: Mapping[Start, str] = {
    "together": "started together",
    "in turn": "started in turn",
    "held": "held until all had made their first passes",
}
LONG = 120.0
"""Seconds from which times are said in minutes."""
FLAGS: Mapping[str, str] = {
    "global": "one for the whole process",
    "masked": "one for the whole process; it does not count while torch.compile compiles, but does while others trace",
    "thread-local": "each thread's own, though concurrent traces stay unsupported",
    "absent": "not there",
}
"""Kind of the FX-tracing flag -> what the report says of it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the caller wants raced."""

    per_device: tuple[int, ...] = (1, 3)
    states: tuple[State, ...] = STATES
    tries: int = 3
    remedy: Remedy = "none"


def wanted(per_device: str | None, states: str | None, tries: int | None, remedy: Remedy | None) -> Wanted:
    """Read the options, None for those that were not given. Raises UsageError."""
    usual = Wanted()
    return Wanted(
        usual.per_device if per_device is None else _counts(per_device),
        usual.states if states is None else _states(states),
        tries or usual.tries,
        remedy or usual.remedy,
    )


def _counts(written: str) -> tuple[int, ...]:
    """Read what --per-device says, e.g. `1,3`. Raises UsageError."""
    parts = [part.strip() for part in written.split(",")]
    for part in parts:
        if not (part.isascii() and part.isdigit() and len(part) < 4 and 1 <= int(part) <= MOST_THREADS):
            raise UsageError(f"--per-device: {part[:40]!r} is no number of threads from 1 to {MOST_THREADS}")
    return tuple(dict.fromkeys(map(int, parts)))


def _states(written: str) -> tuple[State, ...]:
    """Read what --states says, e.g. `cold,warm`. Raises UsageError."""
    parts = [part.strip() for part in written.split(",")]
    for part in parts:
        if part not in STATES:
            raise UsageError(f"--states: {part[:40]!r} is no state of a cache; there are {', '.join(STATES)}")
    return tuple(state for state in STATES if state in parts)


def race(
    order: Order,
    wanted: Wanted,
    taken: snapshot.Snapshot,
    tell: Callable[[Attempt], None],
    announce: Callable[[str], None],
) -> tuple[Smoke, Race]:
    """Let the threads race. Raises UsageError for a guard not made for this torch, EnvDoctorError as a smoke does."""
    flag = taken.fx_flag
    order = replace(order, env=_environment(order, wanted, taken))
    settings = tuple(Setting(count, state) for count in wanted.per_device for state in wanted.states)
    caches = Caches(os.path.join(order.scratch, "cache"), os.path.join(order.scratch, "kept"))
    lost = {setting: (why, False) for setting in settings if (why := _pointless(setting, order.devices))}
    kind = "" if isinstance(flag, Unavailable) else flag.kind
    plan = Plan(order, settings, wanted.tries, wanted.remedy, caches, lost, kind)
    announce(_planned(plan))
    racing = Racing(plan, lambda one: tell(_heard(one, plan) if isinstance(one, Try) else one))
    found = racing.run()
    attempts = (*_in_order(racing.attempts), *map(_attempt, verdicts(found)))
    return Smoke("threads", order.devices, attempts, racing.build, order.scratch, limit=order.limit), found


def _planned(plan: Plan) -> str:
    """Say how much there is to do, and how long it may take: each process has the limit for its start, and for work."""
    settings = [setting for setting in plan.settings if setting not in plan.lost]
    tries, fills = len(settings) * plan.tries, len({setting.state for setting in settings} - {"cold"})
    most = plan.order.limit * (2 * tries + fills * (1 + len(plan.order.devices)))
    what = f"{tries} {'tries' if tries != 1 else 'try'}, {plan.tries} of each of {len(settings)} settings"
    what += f", and {fills} to fill caches" if fills else ""
    time = f"{most / 60:.0f} min" if most >= LONG else f"{most:.0f} s"
    return f"{what}: a process each, at most {time} (--timeout {plan.order.limit:g} for its start, and for its work)"


def _environment(order: Order, wanted: Wanted, taken: snapshot.Snapshot) -> Mapping[str, str]:
    """Return the job's variables, with the guard's where that is to be tried."""
    if wanted.remedy != "guard":
        return order.env
    build, flag = taken.torch_build, taken.fx_flag
    if isinstance(build, Unavailable) or isinstance(flag, Unavailable):
        why = next(one.reason for one in (build, flag) if isinstance(one, Unavailable))
        raise EnvDoctorError(f"--remedy guard: whose torch's FX-tracing flag is cannot be told: {why}")
    return guarding.guarded(order.env, build, flag).env


def _pointless(setting: Setting, devices: tuple[str, ...]) -> str:
    """Say why a setting cannot show anything on these devices, "" if it can."""
    places = sum(CPU_GRAPHS if device == CPU else 1 for device in devices)
    if places == 1 and setting.per_device == 1:
        return "a single thread on a single device has nobody to race with"
    return "of a single device, partly warm is warm" if places == 1 and setting.state == "partly" else ""


def _in_order(attempts: list[Attempt]) -> list[Attempt]:
    return sorted(attempts, key=lambda attempt: attempt.device != TORCH)


def _attempt(verdict: Verdict) -> Attempt:
    """Return a setting as what was tried out."""
    seconds = sum(one.seconds for one, _ in verdict.results)
    key = "said" if verdict.state in ("passed", "failed") else "reason"
    return Attempt(verdict.setting.name, STEP, verdict.state, seconds, {key: verdict.said})


def _heard(one: Try, plan: Plan) -> Attempt:
    """Return a try as progress tells it."""
    found = result(one, plan.remedy)
    state: TrialState = "passed" if found in WELL else "skipped" if found == OPEN else "failed"
    step = f"{STEP} {one.number}/{plan.tries}"
    return Attempt(one.setting.name, step, state, one.seconds, {"said": ", ".join(_phrases(one, SAID[found]))})


def _phrases(one: Try, first: str) -> Iterator[str]:
    yield f"{first}, threads {STARTED[one.start]}"
    if one.told is not None:
        died = sum(bool(thread.error) for thread in one.told.threads)
        yield from (f"{died} of {len(one.told.threads)} threads died",) if died else ()
        yield f"{one.told.meetings} meetings in {one.told.traces} traces"
    if one.started:
        yield f"started in {one.started:.1f} s"


def seen(found: Race, devices: Sequence[str]) -> dict[str, str]:
    """Return what the head of the report says beside torch and devices."""
    shown = {
        "cache": "throw-away caches",
        "tries": f"{found.tries} {'tries' if found.tries > 1 else 'try'} each",
        "remedy": f"remedy {found.remedy}",
    }
    if CPU in devices:
        shown["graphs"] = f"on the CPU {CPU_GRAPHS} graphs stand for devices: 1 thread a device is {CPU_GRAPHS} threads"
    return shown | ({"flag": FLAGS[found.flag]} if found.flag in FLAGS else {})
