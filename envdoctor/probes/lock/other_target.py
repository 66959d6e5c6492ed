"""The lock says that it was compiled for another Python or platform than the target.

Why it matters: pip-compile and uv leave out what their own target does not need, and choose releases that run there. On
another one packages may be missing, or have no wheel.

What to do: lock again for the target: `envdoctor lock compile --python --platform`, or with `uv pip compile
--universal`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from envdoctor.locks.environments import LockEnvironment, of_header
from envdoctor.model import Finding, Lock, LockHeader, LockProblem, Severity
from envdoctor.pointing import fault
from envdoctor.views.lock_targets import LockTargets


def check(lock: Lock, lock_stated: LockTargets) -> Iterable[Finding]:
    """Compare what the header says with the one target that was stated."""
    made_for = of_header(lock.header)
    for environment in lock_stated.environments:
        differing = list(_differing(lock.header, made_for, environment))
        if differing:
            yield fault(
                Severity.WARNING,
                lock,
                LockProblem(lock.header.line, "", text=differing[0][0]),
                f"the lock was compiled for {' and '.join(text for _, text in differing)}, not for {environment.name}",
                remedy=(f"lock again for the target: envdoctor lock compile IN -o FILE{_options(environment)}",),
            )


def _differing(header: LockHeader, made_for: LockEnvironment, target: LockEnvironment) -> Iterator[tuple[str, str]]:
    """Yield (words of the header, what they mean). A universal lock is for its Python and later ones, anywhere."""
    universal = "--universal" in header.command.split()
    ours, theirs = _minor(made_for), _minor(target)
    if ours and theirs and (theirs < ours if universal else theirs != ours):
        yield header.python, f"Python {made_for.python}"
    known = [(made_for.markers.get(key), target.markers.get(key)) for key in ("sys_platform", "platform_machine")]
    newer = made_for.glibc and target.glibc and made_for.glibc > target.glibc
    if not universal and (newer or any(one and other and one != other for one, other in known)):
        yield header.platform, header.platform


def _options(target: LockEnvironment) -> str:
    """Return how to say the target to a resolver."""
    python = f" --python {target.python}" if target.python else ""
    if not (target.glibc and target.machine):
        return python
    return f"{python} --platform manylinux_{target.glibc[0]}_{target.glibc[1]}_{target.machine}"


def _minor(environment: LockEnvironment) -> tuple[int, ...]:
    """Return (3, 12), or () if not that much is known."""
    numbers = tuple(map(int, re.findall(r"\d+", environment.python or "")))
    return numbers if len(numbers) == 2 else ()
