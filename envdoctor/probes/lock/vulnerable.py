"""A locked release has a known vulnerability.

Why it matters: what is wrong with it is public, and so is, mostly, how to use it. An error where the CVSS score is 7 or
more, or the answer has none; a warning from 4 on; otherwise a note.

What to do: lock a release that is fixed. `lock/vulnerable` may be muted for a package that cannot be reached by it.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import SHOWN, fault
from envdoctor.views.lock_advisories import LockAdvisories, fixed_in
from envdoctor.views.lock_online import Advisory

NOT_FIXED = "no release is known to be free of all of it: do without the package, or find out whether it can be reached"
HIGH, MEDIUM = 7.0, 4.0
"""CVSS v3.1, section 5: qualitative severity rating scale."""


def check(lock: Lock, lock_advisories: LockAdvisories) -> Iterable[Finding]:
    """Report each release once, with all that is known of it."""
    for package, advisories in lock_advisories.found:
        fixed = fixed_in(package.version or "", advisories)
        ids = [advisory.id for advisory in advisories]
        which = "a known vulnerability" if len(ids) == 1 else f"{len(ids)} known vulnerabilities"
        yield fault(
            max(_severity(advisory) for advisory in advisories),
            lock,
            package,
            f"{package.name} {package.version} has {which}: {', '.join(ids[:SHOWN])}"
            + (f"; fixed in {fixed}" if fixed else ""),
            text=package.version or "",
            advisories={advisory.id: list(advisory.aliases) for advisory in advisories},
            fixed=fixed,
            remedy=(f"lock {package.name} {fixed} or a later release" if fixed else NOT_FIXED,),
        )


def _severity(advisory: Advisory) -> Severity:
    if advisory.score is None or advisory.score >= HIGH:
        return Severity.ERROR
    return Severity.WARNING if advisory.score >= MEDIUM else Severity.NOTE
