"""Who requires what among the locked releases, as far as their metadata is at hand, for each environment.

Of a uv.lock what it records itself: the metadata of what comes from no index.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from envdoctor.locks import Selection
from envdoctor.locks.environments import LockEnvironment
from envdoctor.locks.text import normalised
from envdoctor.model import Lock, LockedPackage, Unavailable
from envdoctor.versions import satisfies
from envdoctor.views.lock_metadata import LockMetadata
from envdoctor.views.lock_pins import LockPins
from envdoctor.views.requirements import parsed, walk


@dataclass(frozen=True, slots=True)
class LockEdge:
    """One requirement that applies."""

    requirer: LockedPackage
    name: str
    """Normalised name of what is required."""
    text: str
    """As written in the metadata."""
    pin: LockedPackage | None
    """What is locked of it there; None if nothing is wanted."""
    locked: bool
    """True if the lock has a pin that may be meant for the environment, wanted or not."""
    satisfied: bool
    """True if the pin's version is admitted, or not known."""
    environment: str = ""
    """What to call it; "" where that makes no difference."""


@dataclass(frozen=True, slots=True)
class LockRequirements:
    """All that apply."""

    edges: tuple[LockEdge, ...] = ()


def view(
    lock: Lock, lock_pins: LockPins | Unavailable, lock_metadata: LockMetadata | Unavailable
) -> LockRequirements | Unavailable:
    """Walk every environment; a requirement that the lock's makers have overridden is none."""
    missing = next((item for item in (lock_metadata, lock_pins) if isinstance(item, Unavailable)), None)
    if missing is not None and lock.format != "uv":
        return missing
    if "--override" in lock.header.command:
        return Unavailable("the lock was compiled with --override, which replaces what metadata says")
    edges = list(_recorded(lock))
    if not isinstance(lock_pins, Unavailable) and not isinstance(lock_metadata, Unavailable):
        for environment, selection in lock_pins.by_environment:
            edges += _edges(environment, selection, lock_metadata)
    lifted = set(lock.overridden)
    return LockRequirements(tuple(e for e in edges if e.name not in lifted and e.requirer.name not in lifted))


def _edges(environment: LockEnvironment, selection: Selection, metadata: LockMetadata) -> Iterator[LockEdge]:
    pins = selection.wanted
    known = {name: found for name, pin in pins.items() if (found := metadata.of(name, pin.version)) is not None}
    requires = {name: release.requires for name, release in known.items()}
    asked = [(name, extra) for name, pin in pins.items() for extra in pin.extras]
    for requirer, text, requirement in walk(requires, environment.markers, asked):
        if requirement is not None:
            name = normalised(requirement.name)
            pin = pins.get(name)
            fits = pin is None or _fits(pin, str(requirement.specifier))
            locked = name in selection.allowed
            yield LockEdge(pins[requirer], name, text, pin, locked, fits, environment.name)


def _recorded(lock: Lock) -> Iterator[LockEdge]:
    """Yield what packages ask for on every machine, with each pin that the lock's graph has for it."""
    named: dict[str, list[LockedPackage]] = {}
    for package in lock.packages:
        named.setdefault(package.name, []).append(package)
    for requirer in lock.packages:
        for text in requirer.requires:
            requirement = parsed(text) if ";" not in text else None
            if requirement is None:
                continue
            name, specifier = normalised(requirement.name), str(requirement.specifier)
            meant = [edge.version for edge in requirer.dependencies if edge.name == name and not edge.when]
            for pin in named.get(name, ()):
                if meant and (pin.version in meant or None in meant):
                    yield LockEdge(requirer, name, text, pin, locked=True, satisfied=_fits(pin, specifier))


def _fits(pin: LockedPackage, specifier: str) -> bool:
    return pin.version is None or not specifier or satisfies(pin.version, specifier)
