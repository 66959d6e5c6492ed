"""Two packages are locked for one environment that install the same files.

Why it matters: whichever is installed last has the bytes, and the order is nobody's choice; uninstalling either breaks
the other. Mostly one is wanted, and the other came along with a dependency (opencv-python beside its headless twin).

What to do: keep one. Where a dependency asks for the other, override it with the one that stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from envdoctor import knowledge
from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault
from envdoctor.views.lock_grid import LockGrid


def check(lock: Lock, lock_grid: LockGrid) -> Iterable[Finding]:
    """Report one finding for each group; NVIDIA's wheels of two CUDA majors are lock/cuda-mix."""
    for row in knowledge.rows("shared_files"):
        meeting = (found for pair in combinations(row["members"], 2) for found in lock_grid.meeting(*pair))
        point = next((point for point, _ in meeting), None)
        if point is None:
            continue
        pins = [point.wanted.wanted[name] for name in row["members"] if name in point.wanted.wanted]
        first, *_, last = sorted(pins, key=lambda pin: pin.line)
        yield fault(
            Severity.WARNING,
            lock,
            last,
            f"{' and '.join(pin.name for pin in pins)} both install {row['path']} and more; the last one wins",
            text=last.raw_name,
            packages={pin.name: pin.version for pin in pins},
            lines=sorted(pin.line for pin in pins),
            environment=point.name,
            source=row["source"],
            remedy=(f"keep {first.name} or {last.name}, and drop or override the other",),
        )
