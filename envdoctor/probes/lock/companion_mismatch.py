"""Torch is locked with a torchvision, torchaudio or triton that was made for another torch.

Why it matters: they call each other's C++ interface, which changes with every release: imports fail (`operator
torchvision::nms does not exist`). From torchaudio 2.11.0 on the metadata does not stop a resolver from mixing them.

What to do: lock the releases that belong together, from one index.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.builds import label_of, without_cuda
from envdoctor.companions import COMPANIONS, release_misfit
from envdoctor.model import Finding, Lock, LockedPackage, Severity
from envdoctor.pointing import fault
from envdoctor.views.lock_grid import LockGrid, Point


def check(lock: Lock, lock_grid: LockGrid) -> Iterable[Finding]:
    """Compare releases wherever two meet; builds of different CUDA releases are lock/cuda-mix."""
    for name in (*COMPANIONS, "triton"):
        for point, (torch, other) in lock_grid.meeting("torch", name):
            if name == "triton" and not _compiles(point, torch):
                continue
            found = release_misfit(torch.version or "", name, other.version or "")
            if found is not None:
                yield _finding(lock, torch, other, point, found[1], found[2])
                break


def _compiles(point: Point, torch: LockedPackage) -> bool:
    """Tell whether torch asks for a triton there: its Linux wheels for CUDA do."""
    return point.environment.markers.get("sys_platform") == "linux" and not without_cuda(label_of(torch))


def _finding(
    lock: Lock, torch: LockedPackage, other: LockedPackage, point: Point, why: str, wanted: str | None
) -> Finding:
    return fault(
        Severity.ERROR,
        lock,
        other,
        f"{other.name} {other.version} does not belong to torch {torch.version} (line {torch.line}): {why}",
        text=other.version or other.raw_name,
        lines=[torch.line, other.line],
        wanted=wanted,
        environment=point.name,
        remedy=(f"lock {other.name} {wanted}, or the torch that {other.version} belongs to",) if wanted else (),
    )
