"""`envdoctor rebuild`, once it is decided: hold the lock, clear what a killed one left, perform, collect."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO, cast

from envdoctor.archives.store import Store
from envdoctor.errors import EnvDoctorError
from envdoctor.generations import collecting, holding, journal, switching
from envdoctor.generations.collecting import Collected
from envdoctor.generations.layout import Layout
from envdoctor.progress import Progress, Work
from envdoctor.rebuild import coldness, performing, returning, surveying
from envdoctor.rebuild.orders import Made, Order
from envdoctor.rebuild.planning import Plan
from envdoctor.rebuild.preparing import Prepared
from envdoctor.system.host import Host


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What came of it."""

    plan: Plan
    name: str
    made: Made
    collected: Collected
    log: str
    seconds: float
    cleared: tuple[str, ...] = ()
    """Remains of killed rebuilds that were removed first."""
    recovered: str | None = None
    caches: tuple[str, ...] = field(default_factory=tuple)
    """What is to be said of the compile caches, a line each."""


def run(prepared: Prepared, host: Host, tell: Callable[[Progress], None]) -> Rebuilt:
    """Perform a plan. Raises UsageError if it cannot be performed, StepError and EnvDoctorError if it fails."""
    surveying.refuse(prepared.refused)
    began, place = time.monotonic(), prepared.layout
    with holding.held(place, host.name) as descriptor:
        recovered = switching.recover(place, host.now())
        cleared = () if prepared.plan.network else collecting.clear(place)
        name = place.new(prepared.plan.digest, host.now())
        with _log(place, name) as log:
            work = Work(host, _logged(tell, log.write), lambda data: _write(log.write, data), (descriptor,))
            made = _made(prepared, name, work)
        collected = _collected(prepared, host)
    seconds = time.monotonic() - began
    said = coldness.verdict(place.link, host)
    return Rebuilt(prepared.plan, name, made, collected, place.log(name), seconds, cleared, recovered, said)


def _log(place: Layout, name: str) -> BinaryIO:
    """Open the file for what is printed while a generation is made. Raises EnvDoctorError."""
    try:
        os.makedirs(place.logs, exist_ok=True)
        return cast("BinaryIO", open(place.log(name), "ab", buffering=0))
    except OSError as error:
        raise EnvDoctorError(f"{place.log(name)}: cannot be written: {error.strerror or error}") from error


def _logged(tell: Callable[[Progress], None], write: Callable[[bytes], object]) -> Callable[[Progress], None]:
    """Tell of progress, and note in the log where each step begins."""
    last = [""]

    def both(progress: Progress) -> None:
        if progress.step != last[0]:
            last[0] = progress.step
            _write(write, f"== {progress.step}\n".encode())
        tell(progress)

    return both


def _write(write: Callable[[bytes], object], data: bytes) -> None:
    try:
        write(data)
    except OSError:  # a full disk fails where it matters
        return


def _made(prepared: Prepared, name: str, work: Work) -> Made:
    place = prepared.layout
    order = Order(
        prepared.plan,
        place,
        name,
        prepared.narrowed,
        prepared.sources,
        prepared.installer,
        prepared.wish,
        prepared.asked.smoke,
        prepared.asked.devices,
        force=prepared.asked.force,
        allow_gap=prepared.asked.allow_gap,
    )
    journal.write(
        place,
        "begin",
        name,
        work.host.now(),
        lock=prepared.plan.lock,
        python=prepared.plan.python,
        pip=prepared.plan.pip,
    )
    try:
        return performing.perform(order, Store(prepared.store), work)
    finally:
        if not prepared.plan.network:
            collecting.clear(place)


def _collected(prepared: Prepared, host: Host) -> Collected:
    """Remove old generations, unless other hosts may use them. What stays changes nothing of what is done."""
    place, plan = prepared.layout, prepared.plan
    if plan.network:
        why = f"not looked at: {plan.network} is a network file system; remove them by hand when no host uses them"
        return Collected((), tuple((name, why) for name in list(place.names())[: -plan.keep - 1]))
    try:
        return collecting.collect(place, plan.keep, host.now(), returning.used)
    except (OSError, EnvDoctorError) as error:
        return Collected((), (("old generations", f"could not be removed: {error}"),))
