"""Who requires what among the locked releases, as far as their metadata is at hand, for each environment."""

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
from envdoctor.views.requirements import walk

SHOWN = 5
"""Names that a reason lists."""


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
    environment: str
    """What to call it."""


@dataclass(frozen=True, slots=True)
class LockRequirements:
    """All that apply."""

    edges: tuple[LockEdge, ...] = ()
    unknown: tuple[str, ...] = ()
    """Names of wanted releases whose metadata is not at hand."""

    @property
    def gap(self) -> Unavailable | None:
        """Why that nothing is found proves nothing; None if it does."""
        if not self.unknown:
            return None
        more = f" and {len(self.unknown) - SHOWN:,} more" if len(self.unknown) > SHOWN else ""
        return Unavailable(f"no metadata at hand of {', '.join(self.unknown[:SHOWN])}{more}")


def view(lock: Lock, lock_metadata: LockMetadata, lock_pins: LockPins) -> LockRequirements | Unavailable:
    """Walk every environment; a requirement that the lock's makers have overridden is none."""
    if "--override" in lock.header.command:
        return Unavailable("the lock was compiled with --override, which replaces what metadata says")
    lifted = set(lock.overridden)
    found = (
        edge
        for environment, selection in lock_pins.by_environment
        for edge in _edges(environment, selection, lock_metadata)
        if edge.name not in lifted and edge.requirer.name not in lifted
    )
    return LockRequirements(tuple(found), tuple(dict.fromkeys(_unknown(lock_pins, lock_metadata))))


def _unknown(pins: LockPins, metadata: LockMetadata) -> Iterator[str]:
    for _, pin in pins.wanted():
        if pin.version is not None and pin.source in ("index", "url") and metadata.of(pin.name, pin.version) is None:
            yield pin.name


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


def _fits(pin: LockedPackage, specifier: str) -> bool:
    return pin.version is None or not specifier or satisfies(pin.version, specifier)
