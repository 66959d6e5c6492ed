"""A pin of torch leaves the build open.

Why it matters: torch, torchvision and torchaudio are built for each CUDA and for none, and the build is a label of the
version. A pin without one accepts `+cpu` and `+cu128` alike: beside an index that holds several builds, or labelled
companions, it is chance which comes.

What to do: write the label into the pin, or lock with hashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from envdoctor.locks.torch_index import recognised
from envdoctor.model import Finding, Lock, LockedPackage, Severity
from envdoctor.pointing import fault, once
from envdoctor.versions import label
from envdoctor.views.lock_grid import LockGrid

ALWAYS = ("torch", "torchvision", "torchaudio")
LABELLED = (*ALWAYS, "torchcodec", "torchao")
_BUILD = re.compile(r"cu\d|cpu|rocm|xpu")
INDEXES = ("--index-url", "--extra-index-url", "--find-links")


def check(lock: Lock, lock_grid: LockGrid) -> Iterable[Finding]:
    """Report each package once; files that a lock names settle the build, and macOS has one build only."""
    open_pins = [
        package
        for package in lock.packages
        if package.name in ALWAYS and package.source == "index" and not label(package.version)
    ]
    for package in once(open_pins, lambda package: package.name):
        if lock.format in ("requirements", "pipfile") and _has_builds(package, lock_grid):
            why = _beside(package, lock_grid) or ("" if package.hashes else _offered(lock, package))
            if why:
                said = f"{package.name}=={package.version} accepts any build, +cpu as well as +cu128, and {why}"
                remedy = (f"name the build: {package.name}=={package.version}+cu128",)
                yield fault(Severity.WARNING, lock, package, said, text=package.version or "", remedy=remedy)


def _has_builds(package: LockedPackage, grid: LockGrid) -> bool:
    elsewhere = (point for point in grid.points if point.environment.markers.get("sys_platform") != "darwin")
    return any(pin is package for point in elsewhere for pin in point.wanted.allowed.get(package.name, ()))


def _beside(package: LockedPackage, grid: LockGrid) -> str:
    """Name a pin that this one meets, and that bears a label."""
    for name in LABELLED:
        for _, (own, other) in grid.meeting(package.name, name):
            if own is package and _BUILD.match(label(other.version)):
                return f"{name} is pinned to {other.version}"
    return ""


def _offered(lock: Lock, package: LockedPackage) -> str:
    """Name an index of the lock that holds builds of torch."""
    named = [option.value for option in lock.options if option.name in INDEXES] + [package.url]
    builds = (build for url in named if (index := recognised(url)) and (build := index.build))
    return next((f"the lock names the torch index of {build}" for build in builds), "")
