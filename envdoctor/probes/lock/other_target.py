"""The lock says that it was compiled for another Python or platform than the target.

Why it matters: pip-compile and uv leave out what their own target does not need, and choose releases that run there. On
another one packages may be missing, or have no wheel.

What to do: lock again for the target: `envdoctor lock compile --python --platform`, or with `uv pip compile
--universal`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from envdoctor.locks.environments import LockEnvironment, declared
from envdoctor.model import Finding, Lock, LockHeader, LockProblem, Severity
from envdoctor.pointing import fault
from envdoctor.views.lock_targets import LockTargets


def check(lock: Lock, lock_targets: LockTargets) -> Iterable[Finding]:
    """Compare what the header says with the one target that was stated."""
    made_for = next(iter(declared(lock)), None) if lock.header.line else None
    if made_for is None or not lock_targets.stated:
        return
    for environment in lock_targets.environments:
        differing = list(_differing(lock.header, made_for, environment))
        if differing:
            yield fault(
                Severity.WARNING,
                lock,
                LockProblem(lock.header.line, "", text=differing[0][0]),
                f"the lock was compiled for {' and '.join(text for _, text in differing)}, not for {environment.name}",
                remedy=("lock again for the target: envdoctor lock compile IN -o FILE",),
            )


def _differing(header: LockHeader, made_for: LockEnvironment, target: LockEnvironment) -> Iterator[tuple[str, str]]:
    """Yield (words of the header, what they mean). A universal lock is for its Python and later ones, anywhere."""
    universal = "--universal" in header.command.split()
    ours, theirs = made_for.python or "", target.python or ""
    if ours and theirs and (_number(theirs) < _number(ours) if universal else theirs != ours):
        yield header.python, f"Python {ours}"
    known = [(made_for.markers.get(key), target.markers.get(key)) for key in ("sys_platform", "platform_machine")]
    if not universal and any(one and other and one != other for one, other in known):
        yield header.platform, header.platform


def _number(python: str) -> tuple[int, ...]:
    return tuple(map(int, python.split(".")))
