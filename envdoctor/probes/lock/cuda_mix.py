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


def check(lock: Lock, lock_cuda: LockCuda) -> Iterable[Finding]:
    """Report each major that does not belong, then builds of another minor than torch's."""
    strange: dict[int, dict[str, tuple[Statement, CudaPoint]]] = {}
    minors: dict[str, tuple[Statement, CudaPoint]] = {}
    for at in lock_cuda.points:
        for item in _strange(at):
            strange.setdefault(item.major, {}).setdefault(item.package.name, (item, at))
        for item in _minors(at):
            minors.setdefault(item.package.name, (item, at))
    for found in strange.values():
        yield _majors_apart(lock, [item for item, _ in found.values()], next(iter(found.values()))[1])
    for item, at in minors.values():
        yield _minors_apart(lock, item, at)


def _strange(at: CudaPoint) -> list[Statement]:
    """Return the statements of another major than torch's, else than that of most.

    Labels of compiled extensions are held against torch's label by lock/extension-mismatch.
    """
    labelled = at.torch is not None and at.torch.by == "label"
    voices = [s for s in at.statements if not labelled or s.by != "label" or s.package.name in COMPANIONS]
    right = at.torch.major if at.torch else next(iter(Counter(s.major for s in voices).most_common(1)), (0,))[0]
    return [s for s in voices if s.major != right and s.package.name != "torch"]


def _minors(at: CudaPoint) -> list[Statement]:
    torch = at.torch
    if torch is None or torch.minor is None:
        return []
    return [s for s in at.statements if s.major == torch.major and s.minor not in (None, torch.minor)]


def _majors_apart(lock: Lock, items: Sequence[Statement], at: CudaPoint) -> Finding:
    first = items[0]
    others = [s for s in at.statements if s.major != first.major]
    right = at.torch or others[0]
    names = [item.package.name for item in items]
    said = f"{names[0]} is" if len(names) == 1 else f"{', '.join(names)} are"
    return fault(
        Severity.ERROR,
        lock,
        first.package,
        f"{said} for CUDA {first.major}, {right.package.name} {right.package.version} for CUDA {right.cuda} "
        f"({at.point.name})",
        text=first.text,
        packages={item.package.name: item.package.version for item in items},
        lines=[item.package.line for item in items],
        beside={s.package.name: s.package.version for s in others},
        remedy=(f"lock these packages for CUDA {right.major}, or drop what asks for them",),
    )


def _minors_apart(lock: Lock, item: Statement, at: CudaPoint) -> Finding:
    torch = at.torch or item
    name, version = item.package.name, item.package.version or ""
    known = build_misfit(name, version, _label(torch), _label(item)) if name in COMPANIONS else None
    return fault(
        known[0] if known else Severity.WARNING,
        lock,
        item.package,
        f"{name} {version} is built for CUDA {item.cuda}, torch {torch.package.version} for {torch.cuda}",
        text=item.text,
        lines=[torch.package.line, item.package.line],
        remedy=(f"lock the build of {name} for CUDA {torch.cuda}",),
    )


def _label(item: Statement) -> str:
    return f"cu{item.major}{item.minor}"
