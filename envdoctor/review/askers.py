"""Who wants a package: edges of a lock's graph, or the comments of a requirements lock."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from envdoctor.locks.text import is_name
from envdoctor.model import Lock, LockedDependency, LockedPackage

LOCAL = ("directory", "editable", "virtual")
"""Sources of a workspace's own members: what they ask for is asked for by the project itself."""
_PROJECT = re.compile(r"[\w.-]+ \([^)]*\)")
"""`gcm (pyproject.toml)`, as resolvers name the project that they compile for."""


@dataclass(frozen=True, slots=True)
class Askers:
    """Who wants what, as far as one lock says so."""

    recorded: bool
    """False if the lock does not say who wants any of its packages."""
    names: frozenset[str]
    """Normalised names of all packages."""
    local: frozenset[str]
    """Members of the workspace itself, and the roots from which a graph is walked."""
    edges: Mapping[str, tuple[tuple[str, LockedDependency], ...]]
    """Name -> edges to it, each with the name of its owner."""

    def of(self, pin: LockedPackage) -> tuple[str, ...]:
        """Return who wants a pin: names, `name[extra]`, `name (group dev)`, `-r FILE`; constraints want nothing."""
        via = [text for text in pin.via if not text.startswith("-") or text.startswith("-r")]
        return tuple(dict.fromkeys((*via, *self._owners(pin))))

    def direct(self, pin: LockedPackage) -> bool | None:
        """Tell whether the project itself wants a pin; None if the lock does not say who wants anything."""
        if not self.recorded:
            return None
        if pin.name in self.local:
            return True
        if any(self._outside(text) for text in pin.via) or any(name in self.local for name, _ in self._meant(pin)):
            return True
        # what nobody wants stands in a lock for its own sake; pylock.toml has no roots that could say more
        return not self.of(pin)

    def _outside(self, text: str) -> bool:
        """Tell whether a comment names the project: a file, `NAME (FILE)`, or a name that is not locked or is local."""
        if text.startswith("-r") or _PROJECT.fullmatch(text):
            return True
        return is_name(text) and (text not in self.names or text in self.local)

    def _meant(self, pin: LockedPackage) -> Iterator[tuple[str, LockedDependency]]:
        """Yield the edges to a pin, where several are locked only those that mean this one."""
        for owner, edge in self.edges.get(pin.name, ()):
            if edge.version in (None, pin.version) and edge.url in ("", pin.url):
                yield owner, edge

    def _owners(self, pin: LockedPackage) -> Iterator[str]:
        for owner, edge in self._meant(pin):
            name = owner or "the workspace"
            for when in edge.when or ("",):
                kind, _, what = when.partition(":")
                yield f"{name}[{what}]" if kind == "extra" else f"{name} (group {what})" if kind == "group" else name


def askers(lock: Lock) -> Askers:
    """Gather who wants what in a lock."""
    edges: dict[str, list[tuple[str, LockedDependency]]] = {}
    for owner, edge in _edges(lock.packages):
        edges.setdefault(edge.name, []).append((owner, edge))
    return Askers(
        recorded=bool(edges) or any(package.via for package in lock.packages),
        names=frozenset(package.name for package in lock.packages),
        local=frozenset((*lock.roots, *(package.name for package in lock.packages if package.source in LOCAL))),
        edges={name: tuple(found) for name, found in edges.items()},
    )


def _edges(packages: Iterable[LockedPackage]) -> Iterator[tuple[str, LockedDependency]]:
    for package in packages:
        yield from ((package.name, edge) for edge in package.dependencies)
