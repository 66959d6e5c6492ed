"""Which pin of a name became which, where a name has several, told apart by markers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from envdoctor.locks.markers import Environment
from envdoctor.model import LockedPackage

Pins = tuple[LockedPackage, ...]
SYSTEMS = (
    ("linux", "Linux", "posix", "x86_64"),
    ("linux", "Linux", "posix", "aarch64"),
    ("darwin", "Darwin", "posix", "arm64"),
    ("darwin", "Darwin", "posix", "x86_64"),
    ("win32", "Windows", "nt", "AMD64"),
)
"""sys_platform, platform_system, os_name, platform_machine of the environments on which markers are tried."""
MOST = 2_500
"""Pairs of pins whose markers are tried against each other; real locks have a dozen."""
PYTHONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


@dataclass(frozen=True, slots=True)
class Match:
    """Pins of one name in the old lock, and what became of them in the new one."""

    old: Pins
    """One; none if the pin was added; several only where markers do not tell which became which."""
    new: Pins


def matched(old: Sequence[LockedPackage], new: Sequence[LockedPackage]) -> list[Match]:
    """Match the pins of one name.

    One on each side belong together. Else equal markers do, else equal releases, else those that apply in the same
    environments; what is left on both sides is matched as a set.
    """
    if len(old) == 1 == len(new):
        return [Match(tuple(old), tuple(new))]
    found: list[Match] = []
    left, right = tuple(old), tuple(new)
    for key in (_all, _marker, _release):
        pairs = _by(key, left, right)
        found += pairs
        left, right = _without(left, [match.old[0] for match in pairs]), _without(right, [m.new[0] for m in pairs])
    if len(left) * len(right) <= MOST:
        pairs = _by_environment(left, right)
        found += pairs
        left, right = _without(left, [match.old[0] for match in pairs]), _without(right, [m.new[0] for m in pairs])
    if left and right:
        return [*found, Match(left, right)]
    return [*found, *(Match((pin,), ()) for pin in left), *(Match((), (pin,)) for pin in right)]


def _all(pin: LockedPackage) -> Hashable:
    return pin.marker, pin.version, pin.source, pin.url


def _marker(pin: LockedPackage) -> Hashable:
    return pin.marker


def _release(pin: LockedPackage) -> Hashable:
    return pin.version, pin.source


def _by(key: Callable[[LockedPackage], Hashable], old: Pins, new: Pins) -> list[Match]:
    """Match what a key matches one to one."""
    mine, theirs = _grouped(key, old), _grouped(key, new)
    return [
        Match((pins[0],), (theirs[value][0],))
        for value, pins in mine.items()
        if len(pins) == 1 == len(theirs.get(value, ()))
    ]


def _grouped(key: Callable[[LockedPackage], Hashable], pins: Pins) -> dict[Hashable, list[LockedPackage]]:
    groups: dict[Hashable, list[LockedPackage]] = {}
    for pin in pins:
        groups.setdefault(key(pin), []).append(pin)
    return groups


def _by_environment(old: Pins, new: Pins) -> list[Match]:
    """Match what applies in the same environments, and there alone."""
    found = []
    for pin in old:
        theirs = [other for other in new if _places(pin.marker) & _places(other.marker)]
        if len(theirs) == 1 and [p for p in old if _places(p.marker) & _places(theirs[0].marker)] == [pin]:
            found.append(Match((pin,), (theirs[0],)))
    return found


def _without(pins: Pins, taken: Iterable[LockedPackage]) -> Pins:
    gone = {id(pin) for pin in taken}
    return tuple(pin for pin in pins if id(pin) not in gone)


@cache
def _places(marker: str | None) -> frozenset[int]:
    """Return in which of the environments a marker may hold."""
    return frozenset(at for at, place in enumerate(_environments()) if place.applies(marker) is not False)


@cache
def _environments() -> tuple[Environment, ...]:
    return tuple(
        Environment(
            {
                "sys_platform": platform,
                "platform_system": system,
                "os_name": name,
                "platform_machine": machine,
                "python_version": python,
                "implementation_name": "cpython",
                "platform_python_implementation": "CPython",
            }
        )
        for (platform, system, name, machine), python in product(SYSTEMS, PYTHONS)
    )
