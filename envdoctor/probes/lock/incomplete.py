"""A locked package requires another one that the lock does not hold.

Why it matters: pip refuses such a lock where it is hashed, and fetches today's release where it is not; `uv pip sync`
notices nothing and leaves an environment that fails at an import.

What to do: lock again from the source, never by hand; a merge of two branches is the usual cause.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock, LockedPackage, Severity
from envdoctor.pointing import fault
from envdoctor.views.lock_closure import LockClosure


def check(lock: Lock, lock_closure: LockClosure) -> Iterable[Finding]:
    """Report each missing package once, where the first that needs it stands."""
    for gap in lock_closure.gaps:
        where = gap.where
        yield fault(
            Severity.ERROR,
            lock,
            where,
            gap.message,
            text=where.raw_name if isinstance(where, LockedPackage) else where.text,
            subject=gap.name,
            required_by=where.name if isinstance(where, LockedPackage) else None,
            remedy=("lock again from what the lock was compiled from",),
        )
