"""The lock as each environment sees it that it is judged for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from envdoctor import locks
from envdoctor.locks import Selection
from envdoctor.locks.environments import LockEnvironment
from envdoctor.model import Lock, LockedPackage, Target, Unavailable
from envdoctor.views.expected import Expected
from envdoctor.views.lock_targets import LockTargets

__all__ = ["LockEnvironment", "LockPins", "view"]


@dataclass(frozen=True, slots=True)
class LockPins:
    """A lock, narrowed."""

    by_environment: tuple[tuple[LockEnvironment, Selection], ...]

    def wanted(self) -> Iterator[tuple[LockEnvironment, LockedPackage]]:
        """Yield every pin that an environment gets."""
        for environment, selection in self.by_environment:
            yield from ((environment, package) for package in selection.wanted.values())


def view(lock: Lock, lock_targets: LockTargets, target: Target, expected: Expected | Unavailable) -> LockPins:
    """Narrow the lock to each environment, with the groups and extras that were asked for.

    Of a target that is there it is known which default groups were left out of it.
    """
    if lock_targets.own and not isinstance(expected, Unavailable):
        return LockPins(tuple((environment, expected) for environment in lock_targets.environments))
    narrowed = (
        (environment, locks.select(lock, environment.markers, extras=target.extras, groups=target.groups))
        for environment in lock_targets.environments
    )
    return LockPins(tuple(narrowed))
