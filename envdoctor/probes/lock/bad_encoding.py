"""The lock holds characters that are not what they look like.

Why it matters: a byte that is no text, a letter of another alphabet in a name, a character that shows nowhere, a blank
behind the backslash: each changes what is installed, or stops one tool where another goes on.

What to do: save the file as UTF-8, and write the line again by hand.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.lock_scan import LockScan
from envdoctor.model import Finding, Lock
from envdoctor.pointing import met, of_rule


def check(lock: Lock, lock_scan: LockScan) -> Iterable[Finding]:
    """Report each kind once a file; an encoding that pip and uv read is a warning."""
    return met(lock, [*of_rule(lock, "bad-encoding"), *lock_scan.odd], "write it again, as UTF-8", by="text")
