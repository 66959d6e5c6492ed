"""A package comes from a repository by a name that moves.

Why it matters: a branch is another commit tomorrow, a tag can be set again, and the beginning of a commit is not one
for ever. Only the whole commit names what was tested.

What to do: write the full commit behind the @.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from envdoctor.model import Finding, Lock, LockedPackage, Severity
from envdoctor.pointing import fault, once

_REPOSITORY = re.compile(r"(?:(?P<kind>git|hg|svn|bzr)\+)?[\w+]+:(?://)?(?:[^/@]*@)?(?P<rest>.*)")
_FULL = {"git": r"[0-9a-fA-F]{40}|[0-9a-fA-F]{64}", "hg": r"[0-9a-fA-F]{40}", "svn": r"\d+", "bzr": r"(?!)"}
"""Revisions that never move; a revision number of Bazaar does."""


def check(lock: Lock) -> Iterable[Finding]:
    """Report each package once, at its revision."""
    checkouts = (each for each in lock.packages if each.source == "vcs" or "+" in each.url.partition(":")[0])
    moving = ((package, revision) for package in checkouts if (revision := _moving(package)) is not None)
    for package, revision in once(moving, lambda found: found[0].name):
        what = f"at {revision}, which is no full commit" if revision else "without saying which commit"
        said = f"{package.name} comes from {package.url} {what}"
        text = revision or package.url.rstrip("/").rpartition("/")[2]
        remedy = ("write the full commit: @ and 40 hexadecimal digits",)
        yield fault(Severity.ERROR, lock, package, said, text=text, remedy=remedy)


def _moving(package: LockedPackage) -> str | None:
    """Return the revision that is no full commit, "" if there is none at all; None if it is one."""
    match = _REPOSITORY.match(package.url)
    rest = match["rest"] if match else package.url
    address, _, fragment = rest.partition("#")
    address, _, query = address.partition("?")
    named = re.search(r"(?:^|&)(?:rev|tag|branch)=([^&]+)", query)
    revision = fragment or (named[1] if named else address.rpartition("@")[2] if "@" in address else "")
    full = _FULL[(match and match["kind"]) or "git"]
    return None if re.fullmatch(full, revision) else revision
