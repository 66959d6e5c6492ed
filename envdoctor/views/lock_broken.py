"""Requirements of locked releases that the lock does not meet: by the metadata at hand, else by what uv says."""

from __future__ import annotations

from dataclasses import dataclass

from envdoctor.model import Unavailable
from envdoctor.views.lock_online import DryRun, LockOnline
from envdoctor.views.lock_requirements import LockEdge, LockRequirements


@dataclass(frozen=True, slots=True)
class LockBroken:
    """What is not met."""

    edges: tuple[LockEdge, ...] = ()
    conflict: DryRun | None = None
    """The dry run that found no solution."""


def view(
    lock_requirements: LockRequirements | Unavailable, lock_online: LockOnline | Unavailable
) -> LockBroken | Unavailable:
    """Take the metadata where there is any: it names each requirement."""
    if not isinstance(lock_requirements, Unavailable):
        broken = tuple(edge for edge in lock_requirements.edges if not edge.satisfied)
        return LockBroken(broken) if broken else lock_requirements.gap or LockBroken()
    run = None if isinstance(lock_online, Unavailable) else lock_online.dry_run
    if run is None:
        return lock_requirements
    if run.problem:
        return Unavailable(run.problem, failed=True)
    return LockBroken(conflict=run if run.conflict else None)
