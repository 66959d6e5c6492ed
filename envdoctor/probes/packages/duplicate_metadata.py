"""Two metadata directories name the same package in one site-packages directory.

Why it matters: one of them is a remnant. Which version importlib.metadata, pip and the package itself report depends on
the order of a directory listing, and files of the older one may still lie between those of the newer.

What to do: uninstall until pip no longer finds it, look for remains, install the locked version again.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.views.expected import Expected
from envdoctor.views.remedies import Remedies


def check(distributions: Distributions, remedies: Remedies, expected: Expected | Unavailable) -> Iterable[Finding]:
    """Group by directory and name."""
    groups: dict[tuple[str, str], list[Distribution]] = {}
    for item in distributions.items:
        if item.origin != "system-site":
            groups.setdefault((item.location, item.name), []).append(item)
    for (location, name), items in groups.items():
        if len(items) > 1:
            known = [item.version for item in items if item.version is not None]
            versions = [item.version or "unknown" for item in items]
            locked = None if isinstance(expected, Unavailable) else expected.wanted.get(name)
            back = locked.version if locked else known[-1] if known else None
            system = all(item.by_system for item in items)
            yield Finding(
                Severity.NOTE if system else Severity.ERROR,
                name,
                f"{name} has {len(items)} metadata directories in one place: versions {' and '.join(versions)}",
                {"directories": [item.metadata for item in items], "location": location},
                () if system else (*remedies.remove([name]) * len(items), *remedies.reinstall([(name, back)])),
            )
