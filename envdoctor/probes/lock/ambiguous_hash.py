"""One file name has two digests.

Why it matters: two indexes serve different builds under one name, most often a torch index and the ordinary one. An
installer that looks at both stops with a wrong hash, and a cache keeps the one that came first. It is no sign that a
file was tampered with.

What to do: keep each package on one index.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock, LockedPackage, Severity
from envdoctor.pointing import fault
from envdoctor.views.lock_files import LockFile, LockFiles
from envdoctor.views.lock_grid import LockGrid


def check(lock: Lock, lock_files: LockFiles, lock_grid: LockGrid) -> Iterable[Finding]:
    """Report each project once, at the later file; entries that have their own sources and never meet are a note."""
    first: dict[tuple[str, str], tuple[LockFile, str]] = {}
    found: dict[str, dict[str, tuple[LockFile, str, LockFile, str]]] = {}
    for file in (file for file in lock_files.files if file.name):
        for digest in file.hashes:
            before, other = first.setdefault((file.name, digest.partition(":")[0]), (file, digest))
            if other != digest:
                found.setdefault(file.package.name, {}).setdefault(file.name, (before, other, file, digest))
    for files in found.values():
        before, other, file, digest = next(iter(files.values()))
        apart = all(_apart(one.package, two.package, lock_grid) for one, _, two, _ in files.values())
        more = f" (and {len(files) - 1:,} more)" if len(files) > 1 else ""
        sources = [_source(before), _source(file)]
        yield fault(
            Severity.NOTE if apart else Severity.WARNING,
            lock,
            file.package,
            f"{file.name}{more} has one digest at {sources[0]} and another at {sources[1]}: two builds under one name",
            text=file.written,
            remedy=("keep each package on one index",),
            count=len(files),
            lines=[before.package.line, file.package.line],
            sources=sources,
            digests=[other, digest],
        )


def _apart(one: LockedPackage, two: LockedPackage, grid: LockGrid) -> bool:
    """Tell whether two entries say where each is from, and no environment gets both."""
    if "" in (one.url, two.url) or one.url == two.url:
        return False
    pins = (point.wanted.several.get(one.name, ()) for point in grid.points)
    return not any(any(pin is one for pin in met) and any(pin is two for pin in met) for met in pins)


def _source(file: LockFile) -> str:
    return file.package.url or file.url or "an unnamed index"
