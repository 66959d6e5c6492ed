"""A locked release comes as source alone.

Why it matters: to install it is to run its build code, with build requirements that the lock does not pin. What comes
out depends on the compiler, the toolkit and the torch of the machine.

What to do: build a wheel once and lock that, or name the package in `sdists` of the configuration if it may be built.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from envdoctor import knowledge
from envdoctor.model import Finding, Lock, LockedPackage, Severity
from envdoctor.pointing import fault, first_of_each
from envdoctor.policy import Policy
from envdoctor.versions import label, satisfies
from envdoctor.views.lock_origins import OPTIONS


def check(lock: Lock, policy: Policy) -> Iterable[Finding]:
    """Go by the files that the lock names, or by knowledge/source_only.toml where it names neither file nor index."""
    named = any(option.name in OPTIONS for option in lock.options)
    rows = {} if named else {row["name"]: row for row in knowledge.rows("source_only")}
    found = [package for package in lock.packages if _lists_none(package) or _has_none(package, rows)]
    for package in first_of_each(package for package in found if not policy.builds(package.name)):
        yield fault(
            Severity.WARNING,
            lock,
            package,
            f"{package.name} {package.version} comes as source alone, so that its build code runs at installation",
            text=package.raw_name,
            remedy=(
                f"build a wheel where that is known to work: pip wheel --no-deps {package.name}=={package.version}",
                f'or allow it in the configuration: sdists = ["{package.name}"]',
            ),
        )


def _lists_none(package: LockedPackage) -> bool:
    """Tell whether the lock lists files of a package, and no wheel among them."""
    listed = package.source in ("index", "url") and bool(package.artifacts)
    return listed and not any(file.name.endswith(".whl") for file in package.artifacts)


def _has_none(package: LockedPackage, rows: Mapping[str, Mapping[str, Any]]) -> bool:
    """Tell whether none is known to be published. A second digest means another file, a local label another index."""
    row, version = rows.get(package.name), package.version or ""
    bare = package.source == "index" and not package.artifacts and not package.url and len(package.hashes) < 2
    return bare and row is not None and not label(version) and satisfies(version, row["versions"])
