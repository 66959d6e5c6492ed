"""A pin names a pre-release or a nightly build.

Why it matters: indexes of nightlies drop a build after some weeks, and projects withdraw candidates: the lock then
installs nothing. What comes from an address or a commit, and projects that never make a final release, do not count.

What to do: pin the final release, or keep the wheel in a store of your own.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor import knowledge
from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault, once
from envdoctor.versions import is_prerelease


def check(lock: Lock) -> Iterable[Finding]:
    """Report each package once."""
    fetched = (package for package in lock.packages if package.source == "index")
    early = (package for package in fetched if is_prerelease(package.version or ""))
    for package in once(early, lambda package: package.name):
        if not _never_final(package.name):
            said = f"{package.name} is pinned to {package.version}, which is no final release"
            remedy = ("pin a final release, or keep a copy of the wheel",)
            yield fault(Severity.WARNING, lock, package, said, text=package.version or "", remedy=remedy)


def _never_final(name: str) -> bool:
    return any(
        name == row["name"] or (row["prefix"] and name.startswith(row["name"])) for row in knowledge.rows("never_final")
    )
