"""One digest stands for two different packages.

Why it matters: two files never have one sha256: a line was copied, or another file was put in a package's place.

What to do: look the digest up at the index, find out how it came there, and lock again.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock, LockedPackage, Severity
from envdoctor.pointing import fault
from envdoctor.versions import same_build
from envdoctor.views.lock_files import LockFile, LockFiles


def check(lock: Lock, lock_files: LockFiles) -> Iterable[Finding]:
    """Report the second package of each two once, at the first digest that they share."""
    owners: dict[str, LockFile] = {}
    shared: dict[tuple[str, str], list[tuple[str, LockedPackage, LockedPackage]]] = {}
    for file in lock_files.files:
        for digest in file.hashes:
            owner = owners.setdefault(digest, file)
            if owner is not file and not _same(owner, file):
                pair = (owner.package.name, file.package.name)
                shared.setdefault(pair, []).append((digest, owner.package, file.package))
    for found in shared.values():
        digest, first, second = found[0]
        said = f"{_called(second)} has a digest that is also that of {_called(first)}: {digest}"
        more = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
        yield fault(
            Severity.ERROR,
            lock,
            second,
            said + more,
            text=digest.partition(":")[2],
            remedy=("look the digest up at the index, then lock again",),
            lines=[first.line, second.line],
            count=len(found),
        )


def _same(one: LockFile, other: LockFile) -> bool:
    """Tell whether two entries may mean one file: of one project, by one name or else of one release."""
    if one.package.name != other.package.name:
        return False
    if one.name and other.name:
        return one.name == other.name
    return same_build(one.package.version or "", other.package.version)


def _called(package: LockedPackage) -> str:
    return f"{package.name} {package.version}" if package.version else package.name
