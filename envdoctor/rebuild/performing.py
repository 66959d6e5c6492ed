"""Perform a plan. Until the last step nothing that anybody uses is touched; after it nothing is left to be done."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from envdoctor import sealing
from envdoctor.archives import Archive, fetching
from envdoctor.archives.store import Store, flat
from envdoctor.errors import EnvDoctorError, StepError
from envdoctor.facts.smoke import Attempt
from envdoctor.generations import journal, marker
from envdoctor.generations.collecting import TRASH
from envdoctor.installing import compiling, creating, installers, project, proving
from envdoctor.installing.proving import Proof
from envdoctor.model import Report, Severity
from envdoctor.progress import Progress, Work
from envdoctor.rebuild import completing, smoking
from envdoctor.rebuild.orders import Made, Order, RedError
from envdoctor.rebuild.smoking import Smoked
from envdoctor.system.descendants import uninterrupted
from envdoctor.system.zips import UNREADABLE

PROOF_WITHIN = 3600.0
"""Seconds; 7 GB take three."""
SLACK = 256 << 20
"""Bytes that stay free after a rebuild."""
BLOCKING = ("packages/", "environment/moved", "environment/dangling-python", "environment/python-mismatch")
"""Probes whose errors in the new environment stop a rebuild: those of the node and the job were there before."""


def perform(order: Order, store: Store, work: Work) -> Made:
    """Make, prove, try out and switch. Raises StepError, EnvDoctorError; then the present environment is as it was."""
    made = Made()
    try:
        _make(order, store, work, made)
        with _timed(made, "smoke"):
            _smoke(order, work, made)
        with _timed(made, "complete"):
            completing.complete(order, work, made)
        with _timed(made, "switch"):
            completing.switch(order, work, made)
    except BaseException as error:
        _abandon(order, work, made, error)
        raise
    return made


def _make(order: Order, store: Store, work: Work, made: Made) -> None:
    plan = order.plan
    with _timed(made, "fetch"):
        made.archives = fetching.fetch(order.narrowed, order.sources, plan.python, store, work)
        _has_room(order, made.archives)
    with _scratch(order, work) as (links, inside):
        with _timed(made, "create"):
            python = creating.create(order.place, plan.python, pip=plan.pip, prompt=order.layout.name, work=inside)
        with _timed(made, "install"):
            flat(made.archives, links)
            installers.install(order.installer, python, made.archives, links, inside)
        with _timed(made, "project"):
            for each in plan.projects:
                project.reinstall(order.installer, python, each.folder, inside)
        with _timed(made, "verify"):
            made.proof = _proven(order, made.archives, work)
            made.notes += made.proof.notes
        with _timed(made, "compile"):
            compiling.compile_sources(order.place, cores=cores(), work=inside)
    with _timed(made, "seal"):
        work.tell(Progress("seal", order.place))
        _sealed(order, work)


@contextlib.contextmanager
def _scratch(order: Order, work: Work) -> Iterator[tuple[str, Work]]:
    """Give a folder for links, and work whose temporary files lie beside it: what a killed tool leaves goes as trash.

    The file system is the one that has room for the environment; /tmp is memory on many nodes.
    """
    folder = os.path.join(order.layout.home, f"{TRASH}work-{order.name}")
    links, temporary = os.path.join(folder, "links"), os.path.join(folder, "tmp")
    os.makedirs(links)
    os.makedirs(temporary)
    try:
        yield links, replace(work, temporary=temporary)
    finally:
        with uninterrupted():
            shutil.rmtree(folder, ignore_errors=True)


def cores() -> int:
    """Return the cores that this process may use."""
    return len(os.sched_getaffinity(0))


@contextlib.contextmanager
def _timed(made: Made, step: str) -> Iterator[None]:
    began = time.monotonic()
    try:
        yield
    finally:
        made.seconds[step] = made.seconds.get(step, 0.0) + time.monotonic() - began


def _has_room(order: Order, archives: Sequence[Archive]) -> None:
    """Compare what the archives unpack to with what is free, now that both are known. Raises StepError."""
    needed = sum(unpacked(archive.path) for archive in archives) + SLACK
    status = os.statvfs(order.layout.home)
    free = status.f_bavail * status.f_frsize
    if free < needed:
        raise StepError(
            "create",
            f"the packages unpack to {needed >> 20:,} MiB with their byte code, and {order.layout.home} has "
            f"{free >> 20:,} MiB free",
            advice="free some, for instance by `envdoctor generations --prune`",
        )


def unpacked(path: str) -> int:
    """Return the bytes that a wheel takes once installed: byte code is about as large as its source."""
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(info.file_size * (2 if info.filename.endswith(".py") else 1) for info in archive.infolist())
    except UNREADABLE as error:
        raise StepError("fetch", f"{os.path.basename(path)}: is no wheel: {error}") from error


def _proven(order: Order, archives: Sequence[Archive], work: Work) -> Proof:
    plan = order.plan
    proof = proving.prove(
        order.place,
        archives,
        editable=frozenset(each.name for each in plan.projects),
        extra=frozenset({"pip", "setuptools"}) if plan.pip else frozenset(),
        cores=cores(),
        work=work,
        deadline=PROOF_WITHIN,
    )
    if not proof.faults:
        return proof
    said = [f"{fault.name}: {fault.path}: {fault.how}" for fault in proof.faults]
    raise RedError(
        "verify",
        f"{len(said)} installed file{'s are' if len(said) > 1 else ' is'} not what the archive holds, first "
        f"{said[0]}; the new environment is kept in {order.place}",
        tuple(said[:20]),
    )


def _sealed(order: Order, work: Work) -> None:
    """Check and seal it. Raises RedError for what would make it sick from the start."""
    wish = replace(order.wish, target=order.place, lock=order.plan.lock, place=False)
    done = sealing.seal(wish, work.host, force=True)
    errors = blocking(done.report)
    if errors:
        raise RedError(
            "seal",
            f"the new environment is not healthy: {errors[0]}; it is kept in {order.place}",
            tuple(errors[:20]),
            advice="the lock is at fault: mend it, or mute the finding in the configuration",
        )


def blocking(report: Report) -> list[str]:
    """Return the errors that stop a rebuild, a line each."""
    return [
        f"{probe}: {finding.message}"
        for probe, finding in report.findings()
        if finding.severity == Severity.ERROR and probe.startswith(BLOCKING)
    ]


def _smoke(order: Order, work: Work, made: Made) -> None:
    tell = _attempts_told(work)
    made.smoked = smoked = smoking.smoke(order.place, order.smoke, order.devices, work.host, tell)
    if smoked.status == 0:
        return
    if smoked.status == 1:
        raise RedError(
            "smoke",
            f"{smoked.said}; the new environment is kept in {order.place}",
            _told(smoked),
            advice=f"see `envdoctor smoke --target {order.place}`; --smoke none switches without it",
        )
    raise RedError(
        "smoke",
        f"{smoked.said}; the new environment is kept in {order.place}",
        advice="free a GPU or name one with --devices; --smoke none switches without trying it out",
    )


def _told(smoked: Smoked) -> tuple[str, ...]:
    found = smoked.report.findings() if smoked.report else ()
    return tuple(f"{probe}: {finding.subject}: {finding.message}" for probe, finding in found)


def _attempts_told(work: Work) -> Callable[[Attempt], None]:
    def tell(attempt: Attempt) -> None:
        work.tell(Progress("smoke", f"{attempt.step} on {attempt.device}: {attempt.state}"))
        work.log(f"smoke: {attempt.device} {attempt.step} {attempt.state} {attempt.seconds:.1f} s\n".encode())

    return tell


def _abandon(order: Order, work: Work, made: Made, error: BaseException) -> None:
    """Note what happened. What is red is kept for inspection; anything else is of no use, and the caller clears it."""
    red = isinstance(error, RedError)
    with contextlib.suppress(EnvDoctorError, OSError):
        if red and os.path.isdir(order.place):
            found = replace(completing.described(order, work, made), state="red", why=str(error))
            marker.write(order.place, found)
        journal.write(order.layout, "failed", order.name, work.host.now(), why=str(error)[:500], red=red)
