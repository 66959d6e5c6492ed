"""Seal an environment: check it, and record what the check saw as the good state."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial

from envdoctor import __version__, registry, seals, snapshot, workflows
from envdoctor.codec import to_json
from envdoctor.errors import EnvDoctorError
from envdoctor.facts import records, stat_index
from envdoctor.facts.comparison import Comparison
from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.facts.startup import Startup
from envdoctor.facts.toolkits import Toolkits
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.facts.variables import Variables
from envdoctor.locate import Wish, locate
from envdoctor.model import Lock, Report, Severity, Target, Unavailable
from envdoctor.printable import redact
from envdoctor.seals import Seal, SealedDistribution
from envdoctor.snapshot import Snapshot
from envdoctor.system.forked import call
from envdoctor.system.host import Host


@dataclass(frozen=True, slots=True)
class Sealed:
    """What came of it."""

    report: Report
    path: str | None
    """Where the seal lies; None if the environment was too sick to be called good."""
    summary: str = ""


DEADLINE = 600.0
"""Seconds."""
Around = Callable[[Target], AbstractContextManager[object]]
"""Called as soon as the target is known; its context is entered if that may be sealed, and holds the sealing."""


def seal(
    wish: Wish, host: Host, *, force: bool = False, deadline: float = DEADLINE, around: Around | None = None
) -> Sealed:
    """Check the environment without its old seal, then write a new one.

    Without `force` it is not called good if there are errors, nor (EnvDoctorError) if part could not be checked.

    Raises UsageError as `check` does, and EnvDoctorError if something that a seal holds cannot be read or written.
    """
    began = time.monotonic()
    target, policy = call("the search for the target", partial(locate, wish, host), timeout=deadline)
    held = nullcontext() if around is None else around(target)
    unsealed = {"seal": Unavailable("no seal: a new one is being made")}
    registry.use_plugins(policy.plugins)
    registry.known_to(policy)
    taken = snapshot.take(target, host, snapshot.FACTS, deadline=deadline, instead=unsealed)
    report = workflows.report(target, policy, taken, registry.select(), host, began)
    if not force and report.worst() == Severity.ERROR:
        return Sealed(report, None)
    if not force and report.incomplete:
        raise EnvDoctorError(f"not sealed, since part of it could not be checked: {failure(report)}")
    with held:
        path = call("sealing", partial(_write, target, taken, host), timeout=deadline)
    return Sealed(report, path, _summary(taken, target, report))


def failure(report: Report) -> str:
    """Return the first reason why a report is incomplete."""
    failed = (outcome.skipped.reason for outcome in report.outcomes if outcome.skipped and outcome.skipped.failed)
    crashed = (f"{outcome.probe} crashed: {outcome.crashed}" for outcome in report.outcomes if outcome.crashed)
    return [*failed, *crashed, *report.failed.values()][0]


def _write(target: Target, taken: Snapshot, host: Host) -> str:
    interpreter, path, installed = taken.interpreter, taken.search_path, taken.distributions
    if isinstance(interpreter, Unavailable) or isinstance(path, Unavailable) or isinstance(installed, Unavailable):
        reasons = [fact.reason for fact in (interpreter, path, installed) if isinstance(fact, Unavailable)]
        raise EnvDoctorError(f"cannot be sealed: {reasons[0]}")
    comparison = Comparison(target.prefix, {})

    def in_order(site: str, info: str) -> bool:
        state = comparison.distribution(site, info)
        return not (state.missing or state.altered or state.outside or state.problem)

    owned = None if isinstance(taken.owners, Unavailable) else to_json(taken.owners)
    index = stat_index.build(target.prefix, path.site_dirs(), in_order, owned)
    content = _lock_bytes(taken.lock)
    stamp = host.now().strftime("%Y%m%dT%H%M%S")
    build = taken.torch_build if isinstance(taken.torch_build, TorchBuild) else None
    return seals.write(
        target.prefix,
        Seal(
            taken_at=host.now().replace(microsecond=0).isoformat().replace("+00:00", "Z"),
            envdoctor=__version__,
            host=host.name,
            python_version=interpreter.version,
            python_path=interpreter.chain[-1],
            distributions=tuple(_sealed(item) for item in installed.own),
            torch_version=build.version if build else None,
            torch_git=build.git if build else None,
            pth=_pth_names(taken.startup),
            variables=dict(taken.variables.values) if isinstance(taken.variables, Variables) else {},
            lock_origin=target.lock,
            lock_digest=taken.known("lock", "digest"),
            lock_name=f"lock-{os.path.basename(target.lock).removeprefix('lock-')[-200:]}"
            if target.lock and content is not None
            else None,
            toolkits=taken.toolkits.record() if isinstance(taken.toolkits, Toolkits) else {},
            driver=taken.known("driver", "version"),
            frozen=all(not os.stat(site).st_mode & 0o222 for site in path.site_dirs()),
            index_name=f"index-{stamp}-{os.getpid()}.jsonl",
        ),
        index,
        content,
    )


def _sealed(item: Distribution) -> SealedDistribution:
    editable = bool(item.direct_url and item.direct_url.editable)
    try:
        digest = records.wheel_digest(records.read(os.path.join(item.metadata, "RECORD"))) if item.has_record else ""
    except (OSError, ValueError):
        digest = ""
    return SealedDistribution(item.name, item.version, digest, item.tags, editable)


def _pth_names(startup: Startup | Unavailable) -> tuple[str, ...]:
    return (
        () if isinstance(startup, Unavailable) else tuple(sorted(os.path.basename(file.path) for file in startup.files))
    )


def _lock_bytes(lock: Lock | Unavailable) -> bytes | None:
    """Return the lock's text for the copy, without the credentials that its URLs may hold."""
    if isinstance(lock, Unavailable):
        return None
    with open(lock.path, encoding="utf-8", errors="surrogateescape") as stream:
        return redact(stream.read()).encode("utf-8", "surrogateescape")


def _summary(taken: Snapshot, target: Target, report: Report) -> str:
    count = len(taken.distributions.own) if isinstance(taken.distributions, Distributions) else 0
    lock = f"lock {target.lock}" if target.lock else "no lock"
    found = sum(1 for _, finding in report.findings() if finding.severity > Severity.NOTE)
    also = f"; {found} finding{'s' if found > 1 else ''} above a note, see `envdoctor check`" if found else ""
    return f"{count} packages, {lock}{also}"
