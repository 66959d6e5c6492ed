"""The lock is for a CUDA major that the node's driver does not run.

Why it matters: with what it installs torch sees no GPU and says that the driver is too old. A lock that was compiled
anew may have moved to the next CUDA major without a word: torch 2.11.0 is CUDA 13 where 2.10.0 was 12.

What to do: lock a torch for a CUDA major that the driver runs, or upgrade the driver first.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.builds import label_of, without_cuda
from envdoctor.facts.driver import Driver
from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault
from envdoctor.views.driver_floor import carried, floor_of, too_old, version_of
from envdoctor.views.lock_cuda import CudaPoint, LockCuda, Statement, asked


def check(lock: Lock, lock_cuda: LockCuda, driver: Driver) -> Iterable[Finding]:
    """Compare the driver with the floor of the CUDA major that torch is locked for, else of what all else agrees on."""
    version = version_of(driver)
    said = next((found for at in lock_cuda.points if (found := _said(at)) is not None), None)
    if version is None or said is None:
        return
    floor = floor_of(said.major, said.minor or 0)
    if too_old(driver, floor) and not carried(driver, floor):
        wanted = f"driver {floor.minimum} or newer" if floor.minimum else "a newer driver"
        what = f"{said.package.name} {said.package.version}"
        yield fault(
            Severity.ERROR,
            lock,
            said.package,
            f"{what} is for CUDA {said.cuda} and needs {wanted}; the node has {version}",
            text=said.text,
            driver=version,
            cuda=said.cuda,
            minimum_driver=floor.minimum,
            source=floor.source,
            remedy=(
                f"lock a torch for a CUDA major before {said.major}",
                f"or upgrade the driver to {floor.minimum} or newer" if floor.minimum else "or upgrade the driver",
            ),
        )


def _said(at: CudaPoint) -> Statement | None:
    """Return torch's statement, else, beside a torch of which nothing is known, the first of those that agree."""
    torch = at.point.wanted.wanted.get("torch")
    if at.torch is not None or torch is None or without_cuda(label_of(torch)):
        return at.torch
    agreed = len({item.major for item in at.statements}) == 1 and asked(at.statements)
    return at.statements[0] if agreed else None
