"""Where two pins of a lock may meet: for rules that markers decide, and that need no target.

With a target, or stated or declared environments, those are all there is. Otherwise a grid is laid over the kinds of
machine that training runs on or is locked for, and the oldest and the newest Python that the lock admits; at each point
the lock is taken as it is, and with each of its extras and groups in turn (two that exclude each other never together).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from envdoctor import locks
from envdoctor.locks import Selection
from envdoctor.locks.environments import LockEnvironment
from envdoctor.model import Lock, LockedPackage, Target, Unavailable
from envdoctor.views.expected import Expected
from envdoctor.views.lock_targets import LockTargets

MACHINES = (
    {"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64"},
    {"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux", "platform_machine": "aarch64"},
    {"os_name": "posix", "sys_platform": "darwin", "platform_system": "Darwin", "platform_machine": "arm64"},
    {"os_name": "nt", "sys_platform": "win32", "platform_system": "Windows", "platform_machine": "AMD64"},
)
PYTHONS = tuple(f"3.{minor}" for minor in range(9, 16))
CPYTHON = {"implementation_name": "cpython", "platform_python_implementation": "CPython"}
CHOICES = 8
"""Extras and groups that are tried one by one."""


@dataclass(frozen=True, slots=True)
class Point:
    """One environment, with what it gets."""

    environment: LockEnvironment
    wanted: Selection
    choice: str = ""
    """`extra gpu` or `group dev` if that was asked for."""

    @property
    def name(self) -> str:
        """What to call it in a sentence."""
        return f"{self.environment.name}, {self.choice}" if self.choice else self.environment.name


@dataclass(frozen=True, slots=True)
class LockGrid:
    """All points."""

    points: tuple[Point, ...]

    def meeting(self, *names: str) -> Iterator[tuple[Point, tuple[LockedPackage, ...]]]:
        """Yield the points that get all these packages, with their pins there."""
        for point in self.points:
            pins = [point.wanted.wanted.get(name) for name in names]
            if all(pin is not None for pin in pins):
                yield point, tuple(pin for pin in pins if pin is not None)


def view(
    lock: Lock, lock_targets: LockTargets | Unavailable, target: Target, expected: Expected | Unavailable
) -> LockGrid:
    """Lay the grid; of a target that is there it is known which default groups were left out of it."""
    if isinstance(lock_targets, Unavailable):
        return LockGrid(tuple(_chosen(lock, _environments(lock))))
    if lock_targets.own and not isinstance(expected, Unavailable):
        return LockGrid(tuple(Point(environment, expected) for environment in lock_targets.environments))
    if not lock_targets.stated:
        return LockGrid(tuple(_chosen(lock, lock_targets.environments)))
    given = (Point(each, _selected(lock, each, target.extras, target.groups)) for each in lock_targets.environments)
    return LockGrid(tuple(given))


def _chosen(lock: Lock, environments: Iterable[LockEnvironment]) -> Iterator[Point]:
    """Take each environment with each choice of extras and groups."""
    for environment in environments:
        yield Point(environment, _selected(lock, environment, (), ()))
        for extra in lock.extras[:CHOICES]:
            yield Point(environment, _selected(lock, environment, (extra,), ()), f"extra {extra}")
        for group in [group for group in lock.groups if group not in lock.default_groups][:CHOICES]:
            yield Point(environment, _selected(lock, environment, (), (group,)), f"group {group}")


def _environments(lock: Lock) -> list[LockEnvironment]:
    every = (LockEnvironment(version, {"python_version": version}) for version in PYTHONS)
    admitted = [each.name for each in every if each.admitted(lock.requires_python)] or list(PYTHONS)
    ends = list(dict.fromkeys((admitted[0], admitted[-1])))
    everywhere = not any(package.marker for package in lock.packages) and lock.format != "uv" and not lock.roots
    return [
        LockEnvironment(
            f"Python {version} on {machine['sys_platform']} {machine['platform_machine']}",
            {**CPYTHON, **machine, "python_version": version},
        )
        for machine in MACHINES
        for version in ends
    ][: 1 if everywhere else None]


def _selected(lock: Lock, environment: LockEnvironment, extras: tuple[str, ...], groups: tuple[str, ...]) -> Selection:
    return locks.select(lock, environment.markers, extras=extras, groups=groups)
