"""Give a lock that records no groups a graph to be walked: edges between its packages, and a root that asks for them.

The root is what the pyproject.toml beside the lock asks for. Without one it asks for all that nothing in the lock asks
for, which is likely and not sure: `Lock.unsaid` says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from envdoctor.locks import constraints
from envdoctor.locks.project import Wish
from envdoctor.model import LockedDependency, LockedPackage

MANY, ALL = 8, 256
"""Versions of one name, and of all names that have several, beyond which they are not told apart; a real lock has two
or three of some names."""
ROOT = ""
"""Name of the package that asks for all others; it is never installed."""
Versions = Mapping[str, tuple[str, ...]]
"""Names that are locked in several versions -> those."""


def several(pins: Iterable[tuple[str, str | None]]) -> Versions:
    """Return the versions of what is locked more than once, and not too often."""
    found: dict[str, dict[str, None]] = {}
    for name, version in pins:
        found.setdefault(name, {})[version or ""] = None
    several = {name: tuple(versions) for name, versions in found.items() if 1 < len(versions) <= MANY}
    return several if sum(map(len, several.values())) <= ALL else {}


def edges(wishes: Iterable[Wish], versions: Versions) -> Iterator[LockedDependency]:
    """Yield an edge for each wish, one for each version that it admits where the lock has several."""
    for wish in wishes:
        admitted = [each for each in versions.get(wish.name, ()) if constraints.admits(wish.constraint, each)]
        for version in admitted or (None,):
            yield _edge(wish.name, version, wish.marker, wish.extras, wish.when)


@lru_cache(maxsize=4096)
def _edge(
    name: str, version: str | None, marker: str | None, extras: tuple[str, ...], when: tuple[str, ...]
) -> LockedDependency:
    """Make an edge once, however many packages have it."""
    return LockedDependency(name, version, marker, extras, when)


def root(asked: Iterable[LockedDependency]) -> LockedPackage:
    """Return the package that asks for these."""
    return LockedPackage(ROOT, None, source="virtual", dependencies=tuple(asked))


def likely(packages: Iterable[LockedPackage], dev: frozenset[str], optional: frozenset[str]) -> list[Wish]:
    """Ask for what no package of the lock asks for, and for one of each ring of packages that ask for each other.

    `dev` are names that only the group `dev` wants, `optional` those that only extras want.
    """
    needed: dict[str, list[str]] = {}
    for package in packages:
        if package.name not in optional:
            needed.setdefault(package.name, []).extend(edge.name for edge in package.dependencies)
    starts = _starts(list(needed), needed)
    # a start leads to no later one; so what a later one leads to is no start of its own
    kept = set(_starts(starts[::-1], needed))
    return [Wish(name, when=("group:dev",) if name in dev else ()) for name in starts if name in kept]


def _starts(names: Iterable[str], needed: Mapping[str, list[str]]) -> list[str]:
    """Return the names that those before them do not lead to."""
    starts: list[str] = []
    reached: set[str] = set()
    for start in names:
        if start not in reached:
            starts.append(start)
            reached.add(start)
            queue = [start]
            for name in queue:  # grows while it is walked
                new = [each for each in needed.get(name, ()) if each not in reached]
                reached.update(new)
                queue += new
    return starts
