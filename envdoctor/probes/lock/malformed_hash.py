"""A digest of the lock can match no file.

Why it matters: no algorithm is named, or one that no installer knows, or the digits are too few or no digits at all. uv
refuses such a lock when it reads it, pip only after it has fetched the file.

What to do: lock again; a digest is never mended by hand.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock
from envdoctor.pointing import met, of_rule


def check(lock: Lock) -> Iterable[Finding]:
    """Report each package once, at its first such digest."""
    return met(lock, of_rule(lock, "malformed-hash"), "lock again: envdoctor lock compile IN -o FILE")
