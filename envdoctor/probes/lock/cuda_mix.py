"""Packages for different CUDA releases are locked for one environment.

Why it matters: libraries of two CUDA majors in one process fail with undefined symbols, or overwrite each other on disk
(nccl, cudnn, nvshmem). Since CUDA 13 most of NVIDIA's wheels have no suffix and versions of their own: nvidia-cufft 12
is CUDA 13. Another minor of the same major mostly works; it is two toolkits to reason about.

What to do: lock the packages that were built for torch's CUDA; their label, suffix or index says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from envdoctor.companions import COMPANIONS, build_misfit
from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault
from envdoctor.views.lock_cuda import CudaPoint, LockCuda, Statement

Said = tuple[Statement, CudaPoint]


def check(lock: Lock, lock_cuda: LockCuda) -> Iterable[Finding]:
    """Report each package of another major once, then each build of another minor than torch's."""
    majors: dict[str, list[Said]] = {}
    minors: dict[str, list[Said]] = {}
    for at in lock_cuda.points:
        for item in _strange(at):
            majors.setdefault(item.package.name, []).append((item, at))
        for item in _of_other_minor(at):
            minors.setdefault(item.package.name, []).append((item, at))
    for found in majors.values():
        yield _majors_apart(lock, found)
    for found in (found for name, found in minors.items() if name not in majors):
        yield _minors_apart(lock, found)


def _strange(at: CudaPoint) -> list[Statement]:
    """Return the statements of another major than torch's, else than that of most.

    Labels of compiled extensions are held against torch's label by lock/extension-mismatch.
    """
    labelled = at.torch is not None and at.torch.by == "label"
    voices = [s for s in at.statements if not labelled or s.by != "label" or s.package.name in COMPANIONS]
    right = at.torch.major if at.torch else next(iter(Counter(s.major for s in voices).most_common(1)), (0,))[0]
    return [s for s in voices if s.major != right and s.package.name != "torch"]


def _of_other_minor(at: CudaPoint) -> list[Statement]:
    torch = at.torch
    if torch is None or torch.minor is None:
        return []
    return [s for s in at.statements if s.major == torch.major and s.minor not in (None, torch.minor)]


def _majors_apart(lock: Lock, found: Sequence[Said]) -> Finding:
    item, at = min(found, key=lambda said: said[0].package.line)
    right = at.torch or next(s for s in at.statements if s.major != item.major)
    return _finding(
        Severity.ERROR,
        lock,
        found,
        f"{item.package.name} is for CUDA {item.cuda}, {_named(right)} for CUDA {right.cuda} ({at.point.name})",
        right,
        (f"lock what is for CUDA {right.major}, or drop what asks for {item.package.name}",),
    )


def _minors_apart(lock: Lock, found: Sequence[Said]) -> Finding:
    item, at = min(found, key=lambda said: said[0].package.line)
    torch = at.torch or item
    name, version = item.package.name, item.package.version or ""
    known = build_misfit(name, version, _label(torch), _label(item)) if name in COMPANIONS else None
    return _finding(
        known[0] if known else Severity.WARNING,
        lock,
        found,
        f"{_named(item)} is for CUDA {item.cuda}, {_named(torch)} for CUDA {torch.cuda}",
        torch,
        (f"lock the build of {name} for CUDA {torch.cuda}",),
    )


def _finding(
    severity: Severity, lock: Lock, found: Sequence[Said], message: str, right: Statement, remedy: tuple[str, ...]
) -> Finding:
    first, at = min(found, key=lambda said: said[0].package.line)
    return fault(
        severity,
        lock,
        first.package,
        message,
        text=first.text,
        lines=sorted({item.package.line for item, _ in found}),
        cuda=first.cuda,
        beside={right.package.name: right.package.line},
        environment=at.point.name,
        remedy=remedy,
    )


def _named(item: Statement) -> str:
    return f"{item.package.name} {item.package.version or ''}".rstrip()


def _label(item: Statement) -> str:
    return f"cu{item.major}{item.minor}"
