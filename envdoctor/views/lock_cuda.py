"""What the pins of a lock say of CUDA, at each point where they meet.

A build says it in its label, torch also by the index it comes from, NVIDIA's wheels and those that link to them by name
(`-cu12`, `-cuda12x`, knowledge/nvidia_families.toml). Version numbers say nothing of it, but for cuda-toolkit's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from envdoctor import builds
from envdoctor.facts.nvidia_wheels import family
from envdoctor.model import LockedPackage
from envdoctor.views.lock_grid import LockGrid, Point

_CUPY = re.compile(r"-cuda(\d{2})x$")
_TOOLS = ("nvidia-cutlass-dsl",)
"""Beginnings of names that bear a CUDA major and are no runtime library."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One pin's word."""

    package: LockedPackage
    major: int
    minor: int | None
    """None where it says the major alone."""
    by: Literal["label", "index", "name", "needs"]
    """`needs`: by the wheels that torch asks for."""
    text: str
    """The word as it is written in the lock."""

    @property
    def cuda(self) -> str:
        """`12.8`, or `12` if that is all it says."""
        return str(self.major) if self.minor is None else f"{self.major}.{self.minor}"


@dataclass(frozen=True, slots=True)
class CudaPoint:
    """What is said at one point."""

    point: Point
    statements: tuple[Statement, ...]
    torch: Statement | None
    """Torch's own."""


@dataclass(frozen=True, slots=True)
class LockCuda:
    """What is said at every point."""

    points: tuple[CudaPoint, ...]


def view(lock_grid: LockGrid) -> LockCuda:
    """Ask every pin once, however many points have it."""
    pins = {id(pin): pin for point in lock_grid.points for pin in point.wanted.wanted.values()}
    said = {identity: found for identity, pin in pins.items() if (found := statement(pin)) is not None}
    return LockCuda(tuple(_at(point, said) for point in lock_grid.points))


def _at(point: Point, said: Mapping[int, Statement]) -> CudaPoint:
    wanted = point.wanted.wanted.values()
    here = tuple(said[id(pin)] for pin in wanted if id(pin) in said)
    torch = point.wanted.wanted.get("torch")
    return CudaPoint(point, here, None if torch is None else _of_torch(torch, here))


def _of_torch(torch: LockedPackage, here: Iterable[Statement]) -> Statement | None:
    """Return torch's own statement, else what the wheels say that it needs by the lock's word."""
    own = next((item for item in here if item.package is torch), None)
    if own is not None or builds.without_cuda(builds.label_of(torch)):
        return own
    needed = {edge.name for edge in torch.dependencies}
    majors = {
        item.major
        for item in here
        if item.by == "name" and (item.package.name in needed or "torch" in item.package.via)
    }
    return Statement(torch, majors.pop(), None, "needs", torch.version or "") if len(majors) == 1 else None


def asked(statements: Sequence[Statement]) -> str | None:
    """Name what asks for CUDA: a build for it, else two of NVIDIA's wheels; xgboost requires one of them alone."""
    built = [item.package for item in statements if item.by in ("label", "index")]
    named = [item.package.name for item in statements if item.by == "name"]
    if built:
        return f"{built[0].name} {built[0].version}"
    return f"{named[0]} and {named[1]}" if len(named) > 1 else None


def statement(package: LockedPackage) -> Statement | None:
    """Return what a pin says of CUDA, None if it says nothing."""
    label = builds.label_of(package)
    if found := builds.cuda(label):
        written = package.version if package.version and "+" in package.version else label
        return Statement(package, *found, "label", written)
    if package.name == "torch" and not label and (found := builds.cuda(builds.index_build(package.url))):
        return Statement(package, *found, "index", builds.index_build(package.url))
    major = _named(package)
    return None if major is None else Statement(package, major, None, "name", package.raw_name)


def _named(package: LockedPackage) -> int | None:
    if package.name.startswith(_TOOLS):
        return None
    if package.name == "cuda-toolkit":
        major = (package.version or "").partition(".")[0]
        return int(major) if major.isdecimal() and len(major) < 4 else None
    cupy = _CUPY.search(package.name)
    return int(cupy[1]) if cupy else family(package.name)
