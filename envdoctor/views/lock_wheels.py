"""Packages of which no wheel that the lock names fits an environment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from envdoctor.locks import Selection
from envdoctor.locks.environments import LockEnvironment
from envdoctor.locks.text import TAGS, tag_count
from envdoctor.model import Lock, LockedPackage, Target, Unavailable
from envdoctor.views.lock_pins import LockPins
from envdoctor.views.lock_targets import LockTargets

WHEEL = ".whl"


@dataclass(frozen=True, slots=True)
class Unfit:
    """One pin whose wheels are all for something else."""

    package: LockedPackage
    wheels: tuple[str, ...]
    source: bool
    """True if the lock also names a source archive to build from."""
    environments: tuple[LockEnvironment, ...]
    """Those that have no wheel."""


@dataclass(frozen=True, slots=True)
class LockWheels:
    """All of them; a package that has no wheel at all is none."""

    unfit: tuple[Unfit, ...] = ()


def view(lock: Lock, lock_pins: LockPins, lock_targets: LockTargets, target: Target) -> LockWheels | Unavailable:
    """Hold what an environment gets against its tags; what it may get, where nobody said which extras or groups."""
    if lock.format in ("requirements", "pipfile") and not any(package.artifacts for package in lock.packages):
        return Unavailable("the lock names no files")
    chosen = lock_targets.own or bool(target.extras or target.groups)
    found: dict[int, tuple[LockedPackage, list[LockEnvironment]]] = {}
    for environment, selection in lock_pins.by_environment:
        tags = environment.tags() if environment.admitted(lock.requires_python) else None
        for pins in _possible(selection, chosen=chosen) if tags is not None else ():
            if tags is not None and not any(_fits(pin, tags) for pin in pins):
                found.setdefault(id(pins[0]), (pins[0], []))[1].append(environment)
    return LockWheels(
        tuple(
            Unfit(package, wheels := _wheels(package), len(wheels) < len(package.artifacts), tuple(environments))
            for package, environments in found.values()
        )
    )


def _possible(selection: Selection, *, chosen: bool) -> Iterator[tuple[LockedPackage, ...]]:
    """Yield the pins of each name, of which an environment gets one; several wanted ones are lock/conflicting-pins."""
    pins = {name: (pin,) for name, pin in selection.wanted.items()} if chosen else selection.allowed
    yield from (found for name, found in pins.items() if name not in selection.conflicting)


def _fits(package: LockedPackage, tags: frozenset[str]) -> bool:
    """Tell whether a wheel fits, or none is named at all."""
    wheels = _wheels(package)
    return not wheels or any(tag in tags for name in wheels for tag in _tags(name))


def _wheels(package: LockedPackage) -> tuple[str, ...]:
    return tuple(item.name for item in package.artifacts if item.name.endswith(WHEEL))


def _tags(wheel: str) -> Iterator[str]:
    """Yield the tags that a wheel's name stands for (PEP 425: `cp311.cp312-abi3-linux_x86_64` is two)."""
    parts = wheel[: -len(WHEEL)].split("-")[-3:]
    if len(parts) == len(("python", "abi", "platform")) and tag_count(wheel) <= TAGS:
        pythons, abis, platforms = (part.lower().split(".") for part in parts)
        yield from (f"{python}-{abi}-{platform}" for python in pythons for abi in abis for platform in platforms)
