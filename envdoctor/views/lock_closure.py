"""What the lock's packages need and the lock does not hold: by its own graph, else by the metadata at hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from envdoctor.model import Lock, LockedDependency, LockedPackage, LockProblem, Unavailable
from envdoctor.views.lock_online import DryRun, LockOnline
from envdoctor.views.lock_requirements import LockRequirements

BOOTSTRAP = ("distribute", "pip", "setuptools", "wheel")
"""Left out by pip-compile without --allow-unsafe, which lock/bootstrap-missing tells, and by pip freeze (pip 26.3)."""


GRAPHS = ("pylock", "poetry", "pdm")
"""Formats whose packages may say what they need; the reader of uv.lock looks itself."""
UNRESOLVED = Unavailable("the pins do not fit together, so that no resolver says what is missing")


@dataclass(frozen=True, slots=True)
class Gap:
    """One thing that is needed and not there."""

    name: str
    """Normalised."""
    where: LockedPackage | LockProblem
    """Who needs it."""
    message: str


@dataclass(frozen=True, slots=True)
class LockClosure:
    """All gaps, one for each name."""

    gaps: tuple[Gap, ...] = ()


def view(
    lock: Lock, lock_requirements: LockRequirements | Unavailable, lock_online: LockOnline | Unavailable
) -> LockClosure | Unavailable:
    """Look for them; a uv.lock records by itself who needs whom, others may. Without metadata a dry run tells."""
    found = [*_told(lock), *(_dangling(lock) if lock.format in GRAPHS else ())]
    if lock.format != "uv" and not isinstance(lock_requirements, Unavailable):
        found += _unlocked(lock_requirements)
    elif isinstance(lock_requirements, Unavailable) and not any(package.dependencies for package in lock.packages):
        run = None if isinstance(lock_online, Unavailable) else lock_online.dry_run
        if run is None or run.conflict:
            return lock_requirements if run is None else UNRESOLVED
        if run.problem:
            return Unavailable(run.problem, failed=True)
        found += _added(run)
    gaps: dict[str, Gap] = {}
    for gap in found:
        gaps.setdefault(gap.name, gap)
    if not gaps and lock.format in ("requirements", "pipfile") and not isinstance(lock_requirements, Unavailable):
        return lock_requirements.gap or LockClosure()
    return LockClosure(tuple(gaps.values()))


def _added(run: DryRun) -> Iterator[Gap]:
    """Yield what a resolver adds to the pins; it does not say for whom."""
    for name in run.extra:
        if name not in BOOTSTRAP:
            said = f"{name} is required by what the lock pins, and the lock does not hold it ({run.environment})"
            yield Gap(name, LockProblem(0, ""), said)


def _told(lock: Lock) -> Iterator[Gap]:
    """Yield what the reader found in the graph."""
    for problem in lock.problems:
        if problem.rule == "incomplete":
            yield Gap(problem.subject, problem, problem.message)


def _dangling(lock: Lock) -> Iterator[Gap]:
    """Yield edges that lead nowhere.

    Poetry and PDM leave out what no Python or system of theirs needs, and Poetry before 1.3 what every venv had.
    """
    names = {package.name for package in lock.packages}
    for package in lock.packages:
        for edge in package.dependencies:
            if edge.name not in names and not _is_left_out(lock, package, edge):
                yield Gap(edge.name, package, f"{package.name} depends on {edge.name}, which the lock does not hold")


def _is_left_out(lock: Lock, package: LockedPackage, edge: LockedDependency) -> bool:
    own = lock.format in ("poetry", "pdm")
    return own and bool(not package.name or edge.marker or edge.when or edge.name in BOOTSTRAP)


def _unlocked(requirements: LockRequirements) -> Iterator[Gap]:
    for edge in requirements.edges:
        if not edge.locked and edge.name not in BOOTSTRAP:
            needs = edge.text.partition(";")[0].strip()
            said = f"{edge.requirer.name} {edge.requirer.version} requires {needs}, which the lock does not hold"
            yield Gap(edge.name, edge.requirer, f"{said} ({edge.environment})")
