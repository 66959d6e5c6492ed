"""Nothing asks for a locked package.

Why it matters: it is installed all the same. Either it was added by hand, and the next resolution drops it, or what
needed it is gone.

What to do: ask for it in the input, or lock again.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault, first_of_each
from envdoctor.views.lock_orphans import LockOrphans


def check(lock: Lock, lock_orphans: LockOrphans) -> Iterable[Finding]:
    """Report each name once."""
    for package in first_of_each(lock_orphans.packages):
        askers = f"; {', '.join(package.via)}, which the lock notes, is not in it" if package.via else ""
        yield fault(
            Severity.NOTE,
            lock,
            package,
            f"nothing in the lock asks for {package.name} {package.version or ''}".rstrip() + askers,
            text=package.raw_name,
            remedy=("ask for it in the input, or lock again",),
        )
