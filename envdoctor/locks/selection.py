"""Narrow a lock to one target: the packages it should get, and those it may have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from envdoctor.errors import LockError
from envdoctor.locks.environments import LockEnvironment
from envdoctor.locks.graph import Graph
from envdoctor.locks.markers import Environment
from envdoctor.locks.text import normalised, quoted
from envdoctor.model import Lock, LockedPackage


@dataclass(frozen=True, slots=True)
class Selection:
    """A lock as one target sees it."""

    wanted: Mapping[str, LockedPackage]
    """What the default groups and the chosen extras and groups install; a pin whose marker cannot be decided for
    this target is not among them. A project that is never installed itself (uv: virtual) is not either."""
    allowed: Mapping[str, tuple[LockedPackage, ...]]
    """Every pin that applies on this platform under any group or extra, or may do so as far as is known."""
    conflicting: tuple[str, ...] = ()
    """Names for which more than one version is wanted; `wanted` holds the first."""
    several: Mapping[str, tuple[LockedPackage, ...]] = field(default_factory=dict)
    """Names for which more than one pin is wanted, of one release or not, with all of them."""


def check_choice(lock: Lock, *, extras: Iterable[str], groups: Iterable[str]) -> None:
    """Raise LockError for an extra or group that the lock does not have, naming those that it has."""
    for kind, asked, offered in (("extra", extras, lock.extras), ("group", groups, lock.groups)):
        known = set(map(normalised, offered))
        for name in asked:
            if lock.format == "requirements":
                raise LockError(lock.path, f"a requirements file has no {kind}s, so there is no {quoted(name)}")
            if normalised(name) not in known | (set(lock.groups) if lock.format == "pdm" else set()):
                there = ", ".join(sorted(offered)) or "none"
                raise LockError(lock.path, f"the lock has no {kind} {quoted(name)}; it has: {there}")


def select(
    lock: Lock, markers: Mapping[str, str], *, extras: Iterable[str] = (), groups: Iterable[str] = ()
) -> Selection:
    """Narrow a lock to a target with these marker variables (PEP 508); variables that are unknown are left out.

    `groups` come beside the lock's default groups. Names that the lock does not have select nothing: see check_choice.
    """
    chosen = frozenset(map(normalised, extras))
    on = frozenset(map(normalised, (*lock.default_groups, *groups)))
    if lock.format == "pdm":  # -G takes both, and the lock does not tell them apart
        chosen = on = chosen | on
    if lock.format == "uv":
        graph = Graph(lock.packages)
        wanted = graph.wanted(lock.roots, markers, chosen, on)
        allowed = graph.allowed(lock.roots, Environment(markers))
    elif lock.roots:
        plain = tuple(package for package in lock.packages if not package.extras)
        wanted = _settled(Graph(plain).wanted(lock.roots, markers, chosen, on), markers)
        allowed = [package for package in lock.packages if package.name]
    else:
        choices = {"extras": chosen, "dependency_groups": on}
        # only Poetry asks for extras of its own project in the way of metadata
        here = Environment(markers, {**choices, "extra": chosen} if lock.format == "poetry" else choices)
        anywhere = Environment(markers)
        wanted = [package for package in lock.packages if here.applies(package.marker)]
        allowed = [package for package in lock.packages if anywhere.applies(package.marker) is not False]
    return _selection(wanted, allowed)


def _settled(wanted: Iterable[LockedPackage], markers: Mapping[str, str]) -> list[LockedPackage]:
    """Leave out names of which edges admit several versions, unless the Pythons that these are for leave one of them.

    The tool that wrote the lock resolves again to choose; which it takes is not in the lock.
    """
    here = LockEnvironment("", markers)
    by_name: dict[str, list[LockedPackage]] = {}
    for package in wanted:
        by_name.setdefault(package.name, []).append(package)
    kept: list[LockedPackage] = []
    for pins in by_name.values():
        fitting = [pin for pin in pins if here.admitted(pin.requires_python)] if len(pins) > 1 else pins
        if len({pin.version for pin in fitting}) == 1:
            kept += fitting
    return kept


def _selection(wanted: Iterable[LockedPackage], allowed: Iterable[LockedPackage]) -> Selection:
    first: dict[str, LockedPackage] = {}
    several: dict[str, tuple[LockedPackage, ...]] = {}
    conflicting: dict[str, None] = {}
    for package in wanted:
        if package.name in first:
            several[package.name] = (*several.get(package.name, (first[package.name],)), package)
        if package.source != "virtual" and not _same(first.setdefault(package.name, package), package):
            conflicting[package.name] = None
    by_name: dict[str, tuple[LockedPackage, ...]] = {}
    for package in allowed:
        by_name[package.name] = (*by_name.get(package.name, ()), package)
    return Selection(first, by_name, tuple(conflicting), several)


def _same(one: LockedPackage, other: LockedPackage) -> bool:
    """Return whether two pins of a name ask for the same release."""
    if one is other:
        return True
    if "index" not in (one.source, other.source) and one.url != other.url:
        return False
    return one.version == other.version or _canonical(one.version) == _canonical(other.version)


def _canonical(version: str | None) -> str | None:
    from packaging.utils import canonicalize_version

    try:
        return None if version is None else canonicalize_version(version)
    except ValueError:  # numbers of thousands of digits
        return version
