"""One release is pinned on two lines.

Why it matters: pip and uv put the digests of both lines together without a word. A digest that was slipped in stands
far from the line that a reviewer looks at; uv refuses a uv.lock that has an entry twice.

What to do: keep one of the lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from envdoctor.model import Finding, Lock, LockedPackage, Severity
from envdoctor.pointing import fault, many
from envdoctor.versions import same_build
from envdoctor.views.lock_grid import LockGrid


def check(lock: Lock, lock_grid: LockGrid) -> Iterable[Finding]:
    """Report each name once, at the later line; a pylock that has a name twice is lock/conflicting-pins."""
    found: dict[str, tuple[LockedPackage, LockedPackage]] = {}
    for first, second in _pairs(lock, lock_grid):
        found.setdefault(second.name, (first, second))
    for first, second in found.values():
        added = [digest for digest in second.hashes if digest not in first.hashes]
        others = " with other digests" if set(first.hashes) != set(second.hashes) else ""
        places = " and ".join(map(_place, (first, second)))
        yield fault(
            Severity.WARNING,
            lock,
            second,
            f"{second.name} {second.version or second.url} is pinned twice{others}, on {places}",
            text=second.raw_name,
            remedy=("keep one of the lines",),
            digests={_place(pin): list(pin.hashes) for pin in (first, second)},
            added=added,
            **many((first, second)),
        )


def _pairs(lock: Lock, lock_grid: LockGrid) -> Iterator[tuple[LockedPackage, LockedPackage]]:
    """Yield two pins of one release that an environment gets both."""
    if lock.format in ("pylock", "pipfile"):  # a Pipfile.lock has what two categories want in both
        return
    for point in lock_grid.points:
        for pins in point.wanted.several.values():
            for place, pin in enumerate(pins):
                yield from ((other, pin) for other in pins[:place] if _same(other, pin) and _alike(lock, other, pin))


def _same(one: LockedPackage, other: LockedPackage) -> bool:
    if "index" in (one.source, other.source):
        return one.source == other.source and one.url == other.url and same_build(one.version or "", other.version)
    return one.url == other.url


def _alike(lock: Lock, one: LockedPackage, other: LockedPackage) -> bool:
    """Tell whether two entries stand for one thing; a pdm.lock has a second one for a package with extras."""
    return lock.format != "pdm" or one.extras == other.extras


def _place(package: LockedPackage) -> str:
    return f"{package.file}:{package.line}" if package.file else f"line {package.line}"
