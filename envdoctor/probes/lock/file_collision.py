"""Two packages are locked for one environment that install the same files, or the same module.

Why it matters: whichever is installed last has the bytes, and the order is nobody's choice; uninstalling either breaks
the other. Mostly one is wanted, and the other came along with a dependency (opencv-python beside its headless twin). A
package `x/` hides a module `x.py` of another project for good.

What to do: keep one. Where a dependency asks for the other, override it with the one that stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from envdoctor import knowledge
from envdoctor.model import Finding, Lock, LockedPackage, Severity
from envdoctor.pointing import fault
from envdoctor.versions import satisfies
from envdoctor.views.lock_grid import LockGrid, Point

Row = Mapping[str, Any]


def check(lock: Lock, lock_grid: LockGrid) -> Iterable[Finding]:
    """Report one finding for each group; NVIDIA's wheels of two CUDA majors are lock/cuda-mix."""
    for row in knowledge.rows("shared_files"):
        versions = row.get("versions", {})
        found = _together(lock_grid, row["members"], versions)
        if found is not None:
            point, pins = found
            last = max(pins, key=lambda pin: pin.line)
            both = " and ".join(pin.name for pin in pins)
            message = f"{both} both install {row['path']} and more; the last one wins"
            yield _finding(lock, row, last, message, point, pins)
    for row in knowledge.rows("shared_imports"):
        found = _together(lock_grid, (row["name"], row["behind"]), {row["behind"]: row["versions"]})
        if found is not None:
            point, pins = found
            message = f"{row['behind']} hides {row['name']}: `import {row['module']}` finds the former's package alone"
            yield _finding(lock, row, pins[0], message, point, pins)


def _together(
    grid: LockGrid, members: Iterable[str], versions: Mapping[str, str]
) -> tuple[Point, list[LockedPackage]] | None:
    """Return the first point that gets at least two of these, in such versions, and all that it gets."""
    for point in grid.points:
        pins = [point.wanted.wanted[name] for name in members if name in point.wanted.wanted]
        pins = [pin for pin in pins if satisfies(pin.version or "0", versions.get(pin.name, ""))]
        if len(pins) > 1:
            return point, pins
    return None


def _finding(
    lock: Lock, row: Row, pin: LockedPackage, message: str, point: Point, pins: list[LockedPackage]
) -> Finding:
    names = {item.name for item in pins}
    return fault(
        Severity.WARNING,
        lock,
        pin,
        message,
        text=pin.raw_name,
        packages={item.name: item.version for item in pins},
        lines=sorted(item.line for item in lock.packages if item.name in names),
        environment=point.name,
        source=row["source"],
        remedy=(f"keep one of {' and '.join(sorted(names))}, and drop or override the other",),
    )
