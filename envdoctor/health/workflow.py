"""One round: whom to visit, in which order, within one deadline, and what is remembered of it."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from envdoctor import locate
from envdoctor.errors import EnvDoctorError
from envdoctor.health import ahead, answers, configuring, knowing, places, telling, turns
from envdoctor.health.configuring import Configuration, Wanted
from envdoctor.health.looking import Look, look
from envdoctor.health.memory import Memory
from envdoctor.health.places import Place
from envdoctor.health.visits import Round, Visit
from envdoctor.printable import clean
from envdoctor.system import confined
from envdoctor.system.forked import call
from envdoctor.system.host import Host

DEADLINE = 30.0
"""Seconds for all environments together."""
SHARE = 1 / 3
"""Of the deadline that one environment may take: one that hangs leaves time for others."""
GRACE = 1.0
"""Seconds between the end of a look and the end of the child that looks."""
LEAST = 1.0
"""Seconds below which no visit is begun; half of its share, if that is less."""
HOURLY = timedelta(hours=1)
"""How often an environment on a network file system is looked at."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What was said on the command line."""

    config: str | None = None
    target: str | None = None
    lock: str | None = None
    root: str = ""
    deadline: float | None = None
    keep: bool = True
    """False to write nothing: no state, no marks."""
    textfile: str | None = None
    """File for node_exporter."""
    notify: str | None = None
    """Command line that is told of changes."""
    most: float = math.inf
    """Seconds that the deadline may not exceed, whatever the configuration says."""


def run(asked: Asked, host: Host) -> Round:
    """Visit all environments and return what that came to.

    Raises UsageError for a configuration or a target that is none, EnvDoctorError if another run is stuck.
    """
    began, moment = time.monotonic(), host.now()
    configuration = configured(asked, host)
    wishes = telling.wishes(asked.textfile, asked.notify, _usual(asked, configuration), host)
    deadline = min(asked.deadline or configuration.deadline or DEADLINE, asked.most)
    memory = Memory(configuration.state, host, keep=asked.keep)
    with turns.turn(memory.path, deadline) as turn:
        if turn.overdue:
            raise EnvDoctorError(f"{turn.said}: see what it waits for, and end it")
        if not turn.mine:
            return Round(host.name, moment, time.monotonic() - began, (), turn.said, changed=False)
        visits, said = _visited(asked, configuration, memory, host, began + deadline)
        found = Round(host.name, moment, time.monotonic() - began, visits, turn.said)
        told = telling.tell(found, wishes, memory)
        return replace(told, said=tuple(clean([*said, *memory.said])))


def _usual(asked: Asked, configuration: Configuration) -> Configuration:
    """Return who is told by the configuration: of one environment that was named by hand nobody is."""
    return configuration if asked.target is None and not asked.root else Configuration()


def configured(asked: Asked, host: Host) -> Configuration:
    """Return the configuration; a target that is named on the command line is the only one."""
    found = configuring.read(asked.config, host)
    if asked.target is None and found.targets and not asked.root:
        return found
    search = partial(locate.unasked, host) if asked.target is None else partial(locate.named, asked.target, host)
    named = call("the search for the target", search, timeout=places.WITHIN)
    lock = os.path.join(host.cwd, os.path.expanduser(asked.lock)) if asked.lock else None
    known = next((wanted for wanted in found.targets if wanted.path == named), Wanted(named))
    return replace(found, targets=(replace(known, lock=lock or known.lock),))


def _visited(
    asked: Asked, configuration: Configuration, memory: Memory, host: Host, ends: float
) -> tuple[tuple[Visit, ...], Sequence[str]]:
    last = memory.visited()
    recent = frozenset(target for target, moment in last.items() if timedelta() <= host.now() - moment < HOURLY)
    found = places.survey(configuration.targets, recent, asked.root, within=(ends - time.monotonic()) * SHARE)
    ahead.load()
    order = places.in_turn(found.places, {target: moment.timestamp() for target, moment in last.items()})
    return tuple(_visits(order, asked, memory, host, ends)), found.said


def _visits(order: Sequence[Place], asked: Asked, memory: Memory, host: Host, ends: float) -> Iterator[Visit]:
    share = (ends - time.monotonic()) * SHARE if len(order) > 1 else ends - time.monotonic()
    for place in order:
        left = min(share, ends - time.monotonic())
        visit = Visit(place.prefix, place.owner, place.uid, host.now(), None, None, clean(place.reason))
        if not place.due:
            yield _as_it_was(visit, place, memory)
        elif place.reason:
            yield memory.remember(visit)
        elif left < min(LEAST, share / 2):
            said = "the deadline came before its turn, which is first in the next run"
            yield replace(visit, reason=said, visited=False)
        else:
            yield memory.remember(_one(visit, place, asked, host, left))


def _one(visit: Visit, place: Place, asked: Asked, host: Host, left: float) -> Visit:
    """Look at one environment, in a child that is ended with all that it started."""
    wanted = Look(place, asked.root, left - min(GRACE, left / 4), asked.keep, os.geteuid() == 0, host.own)
    at = host.now()
    try:
        answer = answers.read(confined.answer(partial(look, wanted), within=left))
    except EnvDoctorError as error:
        return replace(visit, at=at, reason=clean(str(error)))
    return replace(
        visit, at=at, report=answer.report, snapshot=answer.snapshot, reason=answer.reason, seconds=answer.seconds
    )


def _as_it_was(visit: Visit, place: Place, memory: Memory) -> Visit:
    """Say what the last look came to, where it is too early for another one."""
    found = memory.verdict(place.prefix)
    since = f", looked at {knowing.age(visit.at - found[0])} ago" if found else ""
    said = f"lies on a file system of type {place.network}{since}: at most hourly"
    return replace(visit, reason=said, last=found[1] if found else None)
