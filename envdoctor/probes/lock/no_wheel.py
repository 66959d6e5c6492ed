"""No wheel that the lock names fits the environment.

Why it matters: without an sdist nothing can be installed; with one the package is built there, which takes a compiler,
time, and runs its build code. Python, ABI, machine and glibc must all fit: the three tags that end a wheel's name.

What to do: lock for this environment, or choose a release that has a wheel for it.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault
from envdoctor.policy import Policy
from envdoctor.views.lock_wheels import LockWheels, Unfit


def check(lock: Lock, lock_wheels: LockWheels, policy: Policy) -> Iterable[Finding]:
    """Report each package once.

    One that has no wheel at all is lock/source-only, an environment that the lock is not for lock/python-excluded.
    """
    told: set[str] = set()
    for item in lock_wheels.unfit:
        name = item.package.name
        if name not in told and not (item.source and policy.builds(name)):
            told.add(name)
            yield _finding(lock, item)


def _finding(lock: Lock, item: Unfit) -> Finding:
    what = f"{item.package.name} {item.package.version or ''}".rstrip()
    built = "; it is built from source there" if item.source else ", and no source archive"
    return fault(
        Severity.WARNING if item.source else Severity.ERROR,
        lock,
        item.package,
        f"{what} has no wheel for {item.environments[0].name}{built}",
        text=item.package.raw_name,
        wheels=list(item.wheels[:10]),
        environments=[environment.name for environment in item.environments],
        remedy=("lock again for this environment, or choose a release that has a wheel for it",),
    )
