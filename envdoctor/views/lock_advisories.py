"""The known vulnerabilities of the locked releases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from envdoctor.model import Lock, LockedPackage, Unavailable
from envdoctor.views.lock_online import Advisory, LockOnline, Pin


@dataclass(frozen=True, slots=True)
class LockAdvisories:
    """What is known, and of what nothing is."""

    found: tuple[tuple[LockedPackage, tuple[Advisory, ...]], ...] = ()
    """The first pin of each release that has some, with all of them."""
    unknown: Mapping[Pin, str] = field(default_factory=dict)
    """Pin -> why."""


def view(lock: Lock, lock_online: LockOnline) -> LockAdvisories | Unavailable:
    """Put advisories to the pins that they are about."""
    if lock_online.advisories_problem:
        return Unavailable(lock_online.advisories_problem, failed=True)
    by_pin: dict[Pin, list[Advisory]] = {}
    for advisory in lock_online.advisories:
        by_pin.setdefault((advisory.name, advisory.version), []).append(advisory)
    first: dict[Pin, LockedPackage] = {}
    for package in lock.packages:
        first.setdefault((package.name, package.version or ""), package)
    found = tuple((first[pin], tuple(advisories)) for pin, advisories in by_pin.items() if pin in first)
    return LockAdvisories(found, lock_online.unaudited)


def fixed_in(version: str, advisories: Iterable[Advisory]) -> str | None:
    """Return the first release after `version` that has none of them any more, None if one of them has no fix."""
    from packaging.version import InvalidVersion, Version

    fixes: list[Version] = []
    try:
        for advisory in advisories:
            later = [found for found in map(Version, advisory.fixed) if found > Version(version)]
            if not later:
                return None
            fixes.append(min(later))
    except InvalidVersion:
        return None
    return str(max(fixes)) if fixes else None
