"""Walk a uv lock's graph the way `uv sync` does (uv, crates/uv-resolver/src/lock/installable.rs).

Extras and groups that the lock declares as conflicting stand in its markers as made-up extras, `extra-<length of
project>-<project>-<extra>` and `group-...` (uv, crates/uv-resolver/src/universal_marker.rs).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from envdoctor.locks.markers import Environment
from envdoctor.model import LockedDependency, LockedPackage

Node = tuple[int, str]
"""Index of a package, and what of it is asked for: "" for itself, `extra:NAME`, `group:NAME`."""


def made_up(project: str, kind: str = "", name: str = "") -> str:
    """Return the made-up extra that stands for an `extra` or `group` of a project, or for the project itself."""
    return f"{kind or 'project'}-{len(project)}-{project}" + (f"-{name}" if name else "")


@dataclass(slots=True)
class Graph:
    """The packages of a lock, indexed by name."""

    packages: tuple[LockedPackage, ...]
    _named: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Build the index."""
        for index, package in enumerate(self.packages):
            self._named.setdefault(package.name, []).append(index)

    def wanted(
        self, roots: Iterable[str], markers: Mapping[str, str], extras: frozenset[str], groups: frozenset[str]
    ) -> list[LockedPackage]:
        """Return what the roots need with these extras and groups of theirs."""
        asked = ["", *(f"extra:{name}" for name in extras), *(f"group:{name}" for name in groups)]
        start = [(index, what) for root in roots for index in self._named.get(root, ()) for what in asked]
        on = frozenset(self._switches(start))
        while True:
            reached = self._walk(start, Environment(markers, {"extra": on}), certain=True)
            # an edge such as serving[cpu] switches on an extra that markers met earlier may depend on
            more = on | frozenset(self._switches(reached))
            if more == on:
                return self._packages(reached)
            on = more

    def allowed(self, roots: Iterable[str], anywhere: Environment) -> list[LockedPackage]:
        """Return what may be needed under any extra or group of any workspace member."""
        local = [i for i, package in enumerate(self.packages) if package.source in ("directory", "editable", "virtual")]
        members = {*local, *(index for root in roots for index in self._named.get(root, ()))}
        start = [(index, what) for index in sorted(members) for what in self._all_of(index)]
        return self._packages(self._walk(start, anywhere, certain=False))

    def _all_of(self, index: int) -> Iterable[str]:
        return dict.fromkeys(["", *(what for edge in self.packages[index].dependencies for what in edge.when)])

    def _walk(self, start: Iterable[Node], environment: Environment, *, certain: bool) -> dict[Node, None]:
        """Follow every edge that applies, also those that only may apply unless `certain` is asked for."""
        reached: dict[Node, None] = dict.fromkeys(start)
        queue = list(reached)
        followed: set[tuple[object, ...]] = set()
        for index, what in queue:  # grows while it is walked
            for edge in self.packages[index].dependencies:
                goal = (edge.name, edge.version, edge.url, edge.extras)
                if what not in (edge.when or ("",)) or goal in followed:
                    continue
                applies = environment.applies(edge.marker)
                if applies or (applies is None and not certain):
                    followed.add(goal)
                    new = [node for node in self._nodes(edge) if node not in reached]
                    reached.update(dict.fromkeys(new))
                    queue += new
        return reached

    def _nodes(self, edge: LockedDependency) -> Iterator[Node]:
        for index in self._targets(edge):
            yield index, ""
            for extra in edge.extras:
                yield index, f"extra:{extra}"

    def _targets(self, edge: LockedDependency) -> list[int]:
        """Return the packages that an edge means: one, unless the lock leaves it open."""
        found = self._named.get(edge.name, [])
        if len(found) > 1:
            found = [i for i in found if edge.version in (None, self.packages[i].version)] or found
            found = [i for i in found if edge.url in ("", self.packages[i].url)] or found
        return found

    def _packages(self, reached: Iterable[Node]) -> list[LockedPackage]:
        indices = dict.fromkeys(index for index, _ in reached)
        return [self.packages[index] for index in indices if self.packages[index].name]

    def _switches(self, nodes: Iterable[Node]) -> Iterator[str]:
        """Name the made-up extras that stand for what these nodes ask for."""
        for index, what in nodes:
            kind, _, name = what.partition(":")
            yield made_up(self.packages[index].name, kind, name)
