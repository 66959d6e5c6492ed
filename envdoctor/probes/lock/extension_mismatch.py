"""A compiled extension is locked in a build for another torch, CUDA major or C++ ABI than the lock's torch.

Why it matters: torch's C++ interface changes with every minor release, so the extension cannot be loaded: `undefined
symbol: _ZN3c10...`. No metadata says so; the label of its version or file name alone does.

What to do: lock the build whose label fits torch, or build it from source against this torch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from envdoctor import builds
from envdoctor.companions import COMPANIONS
from envdoctor.model import Finding, Lock, LockedPackage, Severity
from envdoctor.pointing import fault
from envdoctor.views.lock_cuda import CudaPoint, LockCuda

NEW_ABI_SINCE = (2, 7)
"""First torch release of which every Linux wheel has the C++11 ABI (release notes of torch 2.7.0)."""


def check(lock: Lock, lock_cuda: LockCuda) -> Iterable[Finding]:
    """Report each extension once, at the first point where it meets a torch that it does not fit."""
    told: set[str] = set()
    for at in lock_cuda.points:
        torch = at.point.wanted.wanted.get("torch")
        for package in at.point.wanted.wanted.values() if torch is not None else ():
            if torch is None or package.name in ("torch", *COMPANIONS, *told):
                continue
            label = builds.label_of(package)
            why = _why(label, torch, at) if label else ""
            if why:
                told.add(package.name)
                yield _finding(lock, package, label, torch, why)


def _why(label: str, torch: LockedPackage, at: CudaPoint) -> str:
    """Say what does not fit, "" if nothing is known not to."""
    release = _release(torch.version or "")
    meant = builds.torch(label)
    if release and meant and release not in meant:
        return f"for torch {'.'.join(map(str, max(m for m in meant if m[1] < 100)))}"
    if release and release >= NEW_ABI_SINCE and builds.old_abi(label):
        return "with the C++ ABI of before C++11, which no torch since 2.7 has"
    found = builds.cuda(label)
    if found and at.torch and at.torch.by == "label" and found[0] != at.torch.major:
        return f"for CUDA {found[0]}"
    return ""


def _release(version: str) -> tuple[int, int] | None:
    found = re.match(r"(\d{1,4})\.(\d{1,4})(?!\d)", version)
    return (int(found[1]), int(found[2])) if found else None


def _finding(lock: Lock, package: LockedPackage, label: str, torch: LockedPackage, why: str) -> Finding:
    return fault(
        Severity.ERROR,
        lock,
        package,
        f"{package.name} ({label}) is built {why}, the lock has torch {torch.version} (line {torch.line})",
        text=package.version if package.version and "+" in package.version else label,
        lines=[torch.line, package.line],
        remedy=(f"lock the build of {package.name} for torch {torch.version}",),
    )
