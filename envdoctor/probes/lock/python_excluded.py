"""The lock, or a package in it, is not for the Python of the environment.

Why it matters: installers refuse it, or take files that were never tested there. Patch releases count:
`>=3.12.4` excludes Python 3.12.3.

What to do: use a Python that it names, or lock for this one.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock, LockedPackage, Severity
from envdoctor.pointing import fault
from envdoctor.views.lock_pins import LockEnvironment, LockPins

_WORDS = {"poetry": "python-versions", "pdm": "requires_python", "pipfile": "python_version"}
"""What the formats call it, where that is not `requires-python`."""


def check(lock: Lock, lock_pins: LockPins) -> Iterable[Finding]:
    """Report the lock, and each package that the environment would get."""
    for environment, _ in lock_pins.by_environment:
        if lock.requires_python and not environment.admitted(lock.requires_python):
            yield _finding(lock, None, lock.requires_python, environment, "the lock")
            break
    told: set[str] = set()
    for environment, package in lock_pins.wanted():
        wanted = package.requires_python
        if wanted and package.name not in told and not environment.admitted(wanted):
            told.add(package.name)
            yield _finding(lock, package, wanted, environment, f"{package.name} {package.version or ''}".rstrip())


def _finding(
    lock: Lock, package: LockedPackage | None, wanted: str, environment: LockEnvironment, what: str
) -> Finding:
    return fault(
        Severity.ERROR,
        lock,
        package,
        f"{what} is for Python {wanted}, which {environment.name} is not",
        text=_WORDS.get(lock.format, "requires-python"),
        requires_python=wanted,
        environment=environment.name,
        remedy=(f"use a Python {wanted}, or lock again for this one",),
    )
