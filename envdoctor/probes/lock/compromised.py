"""The lock pins a release that is known to have been malicious.

Why it matters: wherever the lock was installed, the code of that release ran with the rights of whoever installed or
imported it. Most of them steal credentials.

What to do: find the machines that installed it, change every credential that was on them (SSH keys, cloud, registry and
tracking tokens), and make their environments anew from a clean lock. To lock again is not enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from envdoctor import knowledge
from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault, first_of_each
from envdoctor.versions import same_build


def check(lock: Lock) -> Iterable[Finding]:
    """Look every pin up in knowledge/compromised.toml, whatever its marker."""
    rows = {row["name"]: row for row in knowledge.rows("compromised")}
    known = [package for package in lock.packages if package.name in rows]
    bad = [package for package in known if _is_among(package.version, rows[package.name]["versions"])]
    for package in first_of_each(bad):
        row = rows[package.name]
        release = f"{package.name} {package.version}" if package.version else package.name
        yield fault(
            Severity.ERROR,
            lock,
            package,
            f"{release} was malicious: it {row['what']}",
            text=package.version or package.raw_name,
            source=row["source"],
            checked=str(row["checked"]),
            remedy=(
                "find every machine that installed this lock, and change the credentials that were on it",
                "lock another release, and make the environments anew",
            ),
        )


def _is_among(version: str | None, versions: Sequence[str]) -> bool:
    """Tell whether a version is one of those published; none stands for all."""
    return not versions or (version is not None and any(same_build(version, bad) for bad in versions))
