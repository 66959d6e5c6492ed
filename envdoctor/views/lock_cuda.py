"""What the pins of a lock say of CUDA, at each point where they meet.

A build says it in its label, torch also by the index it comes from, NVIDIA's wheels and those that link to them by name
(`-cu12`, `-cuda12x`, knowledge/nvidia_families.toml). Version numbers say nothing of it, but for cuda-toolkit's own. Of
a torch without a label the wheels tell that it needs, else knowledge/torch_companions.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from envdoctor import builds, companions
from envdoctor.facts.nvidia_wheels import family
from envdoctor.model import Lock, LockedPackage
from envdoctor.views.lock_grid import LockGrid, Point

_RELEASE = re.compile(r"(\d{1,3})\.(\d{1,3})(\.|$)")
_INDEXES = ("--index-url", "--extra-index-url", "--pypi-url", "--find-links", "--no-index")
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
    by: Literal["label", "index", "name", "needs", "table"]
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


def view(lock: Lock, lock_grid: LockGrid) -> LockCuda:
    """Ask every pin once, however many points have it."""
    bare = lock.format == "requirements" and not any(option.name in _INDEXES for option in lock.options)
    ordinary = bare or lock.format == "poetry"  # without a source Poetry implies the package index
    pins = {id(pin): pin for point in lock_grid.points for pin in point.wanted.wanted.values()}
    said = {identity: found for identity, pin in pins.items() if (found := statement(pin)) is not None}
    return LockCuda(tuple(_at(point, said, ordinary=ordinary) for point in lock_grid.points))


def _at(point: Point, said: Mapping[int, Statement], *, ordinary: bool) -> CudaPoint:
    wanted = point.wanted.wanted
    here = tuple(said[id(pin)] for pin in wanted.values() if id(pin) in said)
    torch = wanted.get("torch")
    if torch is None:
        return CudaPoint(point, here, None)
    own = next((item for item in here if item.package is torch), None)
    if own is None and not builds.without_cuda(builds.label_of(torch)):
        own = _by_needs(torch, here) or (_by_table(torch, point) if ordinary else None)
    return CudaPoint(point, here, own)


def _by_needs(torch: LockedPackage, here: Iterable[Statement]) -> Statement | None:
    """Return what the wheels say that torch needs by the lock's word."""
    needed = {edge.name for edge in torch.dependencies}
    majors = {
        item.major
        for item in here
        if item.by == "name" and (item.package.name in needed or "torch" in item.package.via)
    }
    return Statement(torch, majors.pop(), None, "needs", torch.version or "") if len(majors) == 1 else None


def _by_table(torch: LockedPackage, point: Point) -> Statement | None:
    """Return what the wheel on the package index is built for, where the lock names no other index."""
    markers = point.environment.markers
    known = companions.row(torch.version or "")
    here = (markers.get("sys_platform"), markers.get("platform_machine")) == ("linux", "x86_64")
    if known is None or not here or torch.source != "index" or torch.url or builds.label_of(torch):
        return None
    return Statement(torch, int(known["cuda"].partition(".")[0]), None, "table", torch.version or "")


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
    if package.name == "cuda-toolkit" and (release := _RELEASE.match(package.version or "")):
        return Statement(package, int(release[1]), int(release[2]), "name", release.string)
    cupy = _CUPY.search(package.name)
    major = int(cupy[1]) if cupy else family(package.name)
    if major is None or package.name.startswith(_TOOLS):
        return None
    return Statement(package, major, None, "name", package.raw_name)
