"""Two releases of one package are locked for the same environment.

Why it matters: an environment holds one; installers refuse the lock, each with another message. Lines that markers keep
apart are no conflict: a universal lock pins one torch for each kind of machine.

What to do: drop the line that is wrong, or lock again.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.locks import Selection
from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault
from envdoctor.views.lock_grid import LockGrid


def check(lock: Lock, lock_grid: LockGrid) -> Iterable[Finding]:
    """Report each name once, at its second pin."""
    names = {name: point for point in reversed(lock_grid.points) for name in _names(lock, point.wanted)}
    for name, point in names.items():
        pins = [package for package in lock.packages if package.name == name]
        versions = list(dict.fromkeys(package.version or package.url for package in pins))
        yield fault(
            Severity.ERROR,
            lock,
            pins[1] if len(pins) > 1 else pins[0],
            f"{name} is locked {_as(versions)} for {point.name}",
            text=pins[-1].version or pins[-1].raw_name,
            versions=versions,
            lines=[package.line for package in pins],
            remedy=("keep one of the lines, or lock again",),
        )


def _as(versions: list[str]) -> str:
    return f"as {' and as '.join(versions)}" if len(versions) > 1 else f"twice as {versions[0]}"


def _names(lock: Lock, wanted: Selection) -> Iterable[str]:
    """Return the names that clash; in a pylock also one that has two entries for one release (PEP 751, select)."""
    return wanted.several if lock.format == "pylock" else wanted.conflicting
