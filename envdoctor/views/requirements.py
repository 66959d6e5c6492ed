"""Who requires whom among what is installed, evaluated for the target's interpreter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.facts.interpreter import Interpreter
from envdoctor.facts.metadata import normalised

if TYPE_CHECKING:
    from packaging.requirements import Requirement


@dataclass(frozen=True, slots=True)
class Edge:
    """One requirement that applies here."""

    requirer: str
    name: str
    text: str
    """As written in the metadata."""
    specifier: str
    installed: str | None
    """Version that an import would find; None if there is none."""
    satisfied: bool


@dataclass(frozen=True)
class Requirements:
    """All requirements that apply."""

    edges: tuple[Edge, ...]
    invalid: tuple[tuple[str, str], ...] = ()
    """(distribution, text) of requirements that are no PEP 508."""

    @cached_property
    def required_by(self) -> Mapping[str, tuple[Edge, ...]]:
        """Edges by the name they point at."""
        found: dict[str, list[Edge]] = {}
        for edge in self.edges:
            if edge.requirer != edge.name:
                found.setdefault(edge.name, []).append(edge)
        return {name: tuple(edges) for name, edges in found.items()}

    @cached_property
    def needs(self) -> Mapping[str, frozenset[str]]:
        """Names that each distribution requires."""
        found: dict[str, set[str]] = {}
        for edge in self.edges:
            found.setdefault(edge.requirer, set()).add(edge.name)
        return {name: frozenset(names) for name, names in found.items()}

    def reachable(self, roots: Iterable[str]) -> frozenset[str]:
        """Names that these need, directly or not, themselves included."""
        seen: set[str] = set()
        pending = list(roots)
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                pending += self.needs.get(name, ())
        return frozenset(seen)


def view(distributions: Distributions, interpreter: Interpreter) -> Requirements:
    """Walk all installed distributions, and those requirements behind an extra that another one asks for."""
    active = distributions.active
    edges: list[Edge] = []
    invalid: list[tuple[str, str]] = []
    for name, text, requirement in walk({item.name: item.requires for item in active.values()}, interpreter.markers):
        if requirement is None:
            invalid.append((name, text))
        else:
            edges.append(_edge(active[name], requirement, text, active))
    return Requirements(tuple(sorted(edges, key=lambda edge: (edge.requirer, edge.name))), tuple(invalid))


def walk(
    requires: Mapping[str, Iterable[str]], markers: Mapping[str, str], asked: Iterable[tuple[str, str]] = ()
) -> Iterator[tuple[str, str, Requirement | None]]:
    """Yield (requirer, text, requirement) of all that apply; None for a text that is no requirement (PEP 508).

    `requires` are texts by normalised name; what hangs on an extra comes if another requirement, or `asked`, asks for
    that (name, extra).
    """
    pending = [*((name, "") for name in requires), *(pair for pair in asked if pair[0] in requires)]
    done = set(pending)
    while pending:
        name, extra = pending.pop()
        for text in requires[name]:
            if ("extra" in text.partition(";")[2]) != bool(extra):
                continue  # nearly all requirements of large packages hang on extras that nobody asked for
            requirement = parsed(text)
            holds = None if requirement is None else applies(requirement, markers, extra)
            if requirement is None or holds is None:
                yield name, text, None
            elif holds:
                yield name, text, requirement
                needed = normalised(requirement.name)
                wanted = [(needed, normalised(more)) for more in sorted(requirement.extras) if needed in requires]
                pending += (pair for pair in wanted if pair not in done)
                done |= set(wanted)


@cache
def parsed(text: str) -> Requirement | None:
    """Parse a requirement (PEP 508); None if it is none."""
    from packaging.requirements import Requirement

    try:
        return Requirement(text) if len(text) <= LONGEST else None
    except (ValueError, RecursionError):  # InvalidRequirement, and nesting that no author wrote
        return None


def applies(requirement: Requirement, markers: Mapping[str, str], extra: str) -> bool | None:
    """Evaluate its marker for the target; one that asks for what is not known of the target does not apply.

    None for a marker that cannot be evaluated, such as `os_name ~= "posix"`. `Marker.evaluate` fills gaps from the
    interpreter that runs envdoctor, so no gap is left to it.
    """
    if requirement.marker is None:
        return not extra
    text = str(requirement.marker)
    if any(key in text and key not in markers for key in MARKER_KEYS):
        return False
    try:
        return requirement.marker.evaluate({**markers, "extra": extra})
    except (KeyError, ValueError, RecursionError):  # UndefinedEnvironmentName, UndefinedComparison, InvalidVersion
        return None


LONGEST = 4096
"""Characters of a requirement; the longest that packaging's own tests know has some 200."""
MARKER_KEYS = (
    "implementation_name",
    "implementation_version",
    "os_name",
    "platform_machine",
    "platform_python_implementation",
    "platform_release",
    "platform_system",
    "platform_version",
    "python_full_version",
    "python_version",
    "sys_platform",
)
"""Environment markers (PEP 508)."""


def _edge(item: Distribution, requirement: Requirement, text: str, active: Mapping[str, Distribution]) -> Edge:
    name = normalised(requirement.name)
    found = active.get(name)
    version = found.version if found else None
    satisfied = found is not None and (not requirement.specifier or _contains(requirement, version))
    return Edge(item.name, name, text, str(requirement.specifier), version, satisfied)


def _contains(requirement: Requirement, version: str | None) -> bool:
    try:
        return version is None or requirement.specifier.contains(version, prereleases=True)
    except ValueError:  # InvalidVersion, and numbers of thousands of digits
        return False
