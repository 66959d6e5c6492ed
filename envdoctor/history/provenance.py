"""Why one package is there: who requires it, who asked for it, what the lock says, in which company it came."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from envdoctor.facts.distributions import Distribution
from envdoctor.history.events import History, Installed
from envdoctor.history.installs import Evidence
from envdoctor.model import Lock, LockedPackage, Unavailable
from envdoctor.views.blame import alternatives
from envdoctor.views.requirements import Edge, Requirements

CHAINS = 50
"""Chains that are kept; a package such as numpy may have one to each root."""


@dataclass(frozen=True, slots=True)
class Copy:
    """One installed copy of the package."""

    version: str | None
    metadata: str
    """Its dist-info, absolute."""
    origin: str
    imported: bool
    """True for the one that an import finds."""
    installer: str | None
    requested: bool
    url: str | None
    """Where it came from if not from an index (PEP 610)."""
    editable: bool
    installed_at: float | None
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """One requirement of a chain."""

    name: str
    """Who requires."""
    version: str | None
    requires: str
    """As written in the metadata, without its marker."""
    satisfied: bool


@dataclass(frozen=True, slots=True)
class Pin:
    """What the lock says of it."""

    version: str | None
    line: int
    file: str
    """The file that holds the pin; the lock's own path as a rule."""
    via: tuple[str, ...]
    """Who asked for it when the lock was made, where the lock says so."""
    wanted: bool
    """False if only a group or extra brings it that was not chosen."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """All that can be told of one package."""

    name: str
    copies: tuple[Copy, ...]
    """In the order of the path; none if it is only locked."""
    required_by: tuple[Link, ...]
    """Directly, by what is installed."""
    chains: tuple[tuple[Link, ...], ...]
    """The shortest from each root, which comes first, down to the package; empty for a root."""
    more_chains: int
    """How many were left out."""
    pins: tuple[Pin, ...]
    lock: str | None
    """Path of the lock; None if there is none."""
    unlocked: str | None
    """Why nothing can be said of a lock."""
    foreign: bool
    cause: str | None
    """The foreign package on whose account it is there, or at this version."""
    batch: Installed | None
    timeless: str | None
    """Why it is not known when it came."""
    later: tuple[str, ...]
    """What wrote over its files after it had been installed: names."""


def known(evidence: Evidence) -> frozenset[str]:
    """Return the names that there is something to tell of."""
    locked = () if isinstance(evidence.expected, Unavailable) else evidence.expected.allowed
    return frozenset([*evidence.distributions.active, *locked])


def near(name: str, evidence: Evidence) -> Sequence[str]:
    """Return known names like this one, the likest first."""
    names = sorted(known(evidence))
    holding = [other for other in names if len(name) > 2 and (name in other or other in name)]
    return list(dict.fromkeys([*get_close_matches(name, names, 5, 0.7), *holding]))[:5]


def provenance(name: str, evidence: Evidence, history: History, lock: Lock | Unavailable) -> Provenance:
    """Tell it of a package that is installed or locked, by its normalised name."""
    distributions, requirements = evidence.distributions, evidence.requirements
    chains = list(_chains(name, evidence))
    blame = None if isinstance(evidence.blame, Unavailable) else evidence.blame
    batch = distributions.batch_of.get(name)
    told = next((e for e in history.batches if batch and (e.at, e.until) == (batch.started, batch.ended)), None)
    dated = any(item.name == name and item.origin == "site-packages" for item in distributions.items)
    return Provenance(
        name,
        tuple(_copy(item, distributions.active[name]) for item in distributions.items if item.name == name),
        tuple(_link(edge, evidence) for edge in requirements.required_by.get(name, ())),
        tuple(chains[:CHAINS]),
        max(0, len(chains) - CHAINS),
        tuple(_pins(name, evidence, lock)),
        None if isinstance(lock, Unavailable) else lock.path,
        lock.reason if isinstance(lock, Unavailable) else _narrowed(evidence),
        blame is not None and name in blame.foreign,
        blame.cause_of.get(name) if blame else None,
        told,
        distributions.timeless if dated and told is None else None,
        tuple(over.name for event in history.batches for over in event.overwrote if over.of == name),
    )


def _narrowed(evidence: Evidence) -> str | None:
    return evidence.expected.reason if isinstance(evidence.expected, Unavailable) else None


def _copy(item: Distribution, active: Distribution) -> Copy:
    url = item.direct_url
    return Copy(
        item.version,
        item.metadata,
        item.origin,
        item is active,
        item.installer,
        item.requested,
        url.url if url else None,
        bool(url and url.editable),
        item.installed_at,
        item.problems,
    )


def _link(edge: Edge, evidence: Evidence) -> Link:
    version = evidence.distributions.active[edge.requirer].version
    return Link(edge.requirer, version, edge.text.partition(";")[0].strip(), edge.satisfied)


def _pins(name: str, evidence: Evidence, lock: Lock | Unavailable) -> Iterator[Pin]:
    if isinstance(lock, Unavailable) or isinstance(evidence.expected, Unavailable):
        return
    wanted = name in evidence.expected.wanted
    for package in alternatives(evidence.expected, name):
        yield Pin(
            package.version, package.line, package.file or lock.path, package.via or _asking(package, lock), wanted
        )


def _asking(package: LockedPackage, lock: Lock) -> tuple[str, ...]:
    """Return who needs a package by a lock's own graph, with the group or extra that it hangs on."""
    found = (
        f"{other.name} ({', '.join(need.when)})" if need.when else other.name
        for other in lock.packages
        for need in other.dependencies
        if need.name == package.name and need.version in (None, package.version)
    )
    return tuple(dict.fromkeys(found))


def _chains(name: str, evidence: Evidence) -> Iterator[tuple[Link, ...]]:
    """Yield the shortest chain from each root down to a package, shortest first.

    A root is what nobody requires, or what pip recorded as asked for. In a ring without a root those who require the
    package directly take its part.
    """
    paths: dict[str, tuple[Edge, ...]] = {name: ()}
    level, found = [name], []
    while level:
        above: list[str] = []
        for here in level:
            for edge in evidence.requirements.required_by.get(here, ()):
                if edge.requirer not in paths:
                    paths[edge.requirer] = (edge, *paths[here])
                    above.append(edge.requirer)
                    if _is_root(edge.requirer, evidence):
                        found.append(edge.requirer)
        level = above
    direct = [edge.requirer for edge in evidence.requirements.required_by.get(name, ())]
    for root in found or dict.fromkeys(direct):
        yield tuple(_link(edge, evidence) for edge in paths[root])


def _is_root(name: str, evidence: Evidence) -> bool:
    item = evidence.distributions.active[name]
    return not _needed(evidence.requirements, name) or (item.requested and item.installer == "pip")


def _needed(requirements: Requirements, name: str) -> bool:
    return bool(requirements.required_by.get(name))
