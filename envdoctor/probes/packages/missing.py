"""A package that the lock wants here is not installed.

Why it matters: an import fails, or a fallback is taken silently, perhaps hours into the job.

What to do: install it at the locked version, or make the environment anew from its lock. A lock that does not record
who asks for a package (poetry.lock before 2.1, some pdm.lock) is read with the pyproject.toml beside it; without one
this is a note.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.distributions import Distributions
from envdoctor.model import Finding, Lock, Severity
from envdoctor.views.expected import Expected
from envdoctor.views.remedies import Remedies
from envdoctor.views.requirements import Requirements


def check(
    expected: Expected, distributions: Distributions, requirements: Requirements, lock: Lock, remedies: Remedies
) -> Iterable[Finding]:
    """Compare the lock's wanted names with what an import would find."""
    for name, package in expected.wanted.items():
        if name in distributions.active or name == lock.project or package.source == "virtual":
            continue
        wanted_by = sorted({edge.requirer for edge in requirements.required_by.get(name, ())})
        yield Finding(
            Severity.NOTE if lock.unsaid else Severity.ERROR,
            name,
            f"{name} {package.version or ''}".rstrip() + _said(lock),
            {"locked": package.version, "line": package.line, "file": lock.path, "required_by": wanted_by},
            remedies.reinstall([(name, package.version)]),
        )


def _said(lock: Lock) -> str:
    if lock.unsaid:
        return f" is in the lock and not installed, if it is wanted at all: {lock.unsaid}"
    return " is in the lock and not installed"
