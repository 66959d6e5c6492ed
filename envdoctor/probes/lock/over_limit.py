"""The lock is not of a size or shape that a lock has.

Why it matters: a merge that was left half done, thousands of packages, includes without an end: whoever reads such a
file picks a part of it, each tool another one.

What to do: settle the merge by locking again; split what is not one lock.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock
from envdoctor.pointing import met, of_rule


def check(lock: Lock) -> Iterable[Finding]:
    """Report each file once."""
    return met(lock, of_rule(lock, "over-limit"), "lock again: envdoctor lock compile IN -o FILE", by="file")
