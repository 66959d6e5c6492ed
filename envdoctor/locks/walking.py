"""Give a lock that records no groups a graph to be walked: edges between its packages, and a root that asks for them.

The root is what the pyproject.toml beside the lock asks for. Without one it asks for all that nothing in the lock asks
for, which is likely and not sure: `Lock.unsaid` says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from envdoctor.locks import constraints
from envdoctor.locks.project import Wish
from envdoctor.model import LockedDependency, LockedPackage

ROOT = ""
"""Name of the package that asks for all others; it is never installed."""
Versions = Mapping[str, tuple[str, ...]]
"""Names that are locked in several versions -> those."""


def several(pins: Iterable[tuple[str, str | None]]) -> Versions:
    """Return the versions of what is locked more than once."""
    found: dict[str, dict[str, None]] = {}
    for name, version in pins:
        found.setdefault(name, {})[version or ""] = None
    return {name: tuple(versions) for name, versions in found.items() if len(versions) > 1}


def edges(wishes: Iterable[Wish], versions: Versions) -> Iterator[LockedDependency]:
    """Yield an edge for each wish, one for each version that it admits where the lock has several."""
    for wish in wishes:
        admitted = [each for each in versions.get(wish.name, ()) if constraints.admits(wish.constraint, each)]
        for version in admitted or (None,):
            yield LockedDependency(wish.name, version, wish.marker, wish.extras, wish.when)


def root(asked: Iterable[LockedDependency]) -> LockedPackage:
    """Return the package that asks for these."""
    return LockedPackage(ROOT, None, source="virtual", dependencies=tuple(asked))


def likely(packages: Sequence[LockedPackage], dev: frozenset[str], optional: frozenset[str]) -> list[Wish]:
    """Ask for what no package of the lock asks for, and for one of each ring that only asks for itself.

    `dev` are names that only the group `dev` wants, `optional` those that only extras want.
    """
    needed = {name: {edge.name for edge in package.dependencies} - {name} for name, package in _named(packages).items()}
    targets = set().union(*needed.values()) if needed else set()
    names = [name for name in needed if name not in optional]
    heads = [name for name in names if name not in targets]
    reached: set[str] = set()
    for name in (*heads, *names):
        if name not in reached:
            heads += [] if name not in targets else [name]
            _reach(name, needed, reached)
    return [Wish(name, when=("group:dev",) if name in dev else ()) for name in dict.fromkeys(heads)]


def _named(packages: Iterable[LockedPackage]) -> dict[str, LockedPackage]:
    return {package.name: package for package in packages}


def _reach(start: str, needed: Mapping[str, set[str]], reached: set[str]) -> None:
    queue = [start]
    for name in queue:  # grows while it is walked
        if name not in reached:
            reached.add(name)
            queue += needed.get(name, ())
