"""Torch is locked with a torchvision, torchaudio or triton that was made for another torch.

Why it matters: they call each other's C++ interface, which changes with every release: imports fail (`operator
torchvision::nms does not exist`). From torchaudio 2.11.0 on the metadata does not stop a resolver from mixing them.

What to do: lock the releases that belong together, from one index.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.builds import label_of, without_cuda
from envdoctor.companions import COMPANIONS, release_misfit, row, unbound
from envdoctor.model import Finding, Lock, LockedPackage, Severity
from envdoctor.pointing import fault
from envdoctor.views.lock_grid import LockGrid, Point


def check(lock: Lock, lock_grid: LockGrid) -> Iterable[Finding]:
    """Compare releases wherever two meet; builds of different CUDA releases are lock/cuda-mix."""
    for name in (*COMPANIONS, "triton"):
        for point, (torch, other) in lock_grid.meeting("torch", name):
            if name == "triton" and not _compiles(point, torch):
                continue
            found = _finding(lock, torch, other, point)
            if found is not None:
                yield found
                break


def _compiles(point: Point, torch: LockedPackage) -> bool:
    """Tell whether torch asks for a triton there: its Linux wheels for CUDA do."""
    return point.environment.markers.get("sys_platform") == "linux" and not without_cuda(label_of(torch))


def _finding(lock: Lock, torch: LockedPackage, other: LockedPackage, point: Point) -> Finding | None:
    ours, theirs = torch.version or "", other.version or ""
    misfit, made = release_misfit(ours, other.name, theirs), unbound(ours, other.name, theirs)
    beside, wanted = f"torch {ours} (line {torch.line})", misfit[2] if misfit else None
    if misfit is not None:
        severity, said = Severity.ERROR, f"{other.name} {theirs} does not belong to {beside}: {misfit[1]}"
    elif made is not None:
        severity, said = (
            Severity.WARNING,
            f"{other.name} {theirs} names no torch; it was made with {made}, not {beside}",
        )
    else:
        return None
    known = row(ours)
    return fault(
        severity,
        lock,
        other,
        said,
        text=theirs,
        lines=[other.line],
        beside={"torch": torch.line},
        environment=point.name,
        source=known["source"] if known else None,
        remedy=(f"lock {other.name} {wanted}, or the torch that {theirs} belongs to",) if wanted else (),
    )
