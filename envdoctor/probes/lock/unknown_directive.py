"""A line of the lock is none that installers know.

Why it matters: an option that only the command line takes, one that pip has dropped, or a line that names nothing stops
one installer and is passed over by another.

What to do: take the line out, or give the option to the installer instead.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock
from envdoctor.pointing import met, of_rule


def check(lock: Lock) -> Iterable[Finding]:
    """Report each line once."""
    return met(
        lock,
        of_rule(lock, "unknown-directive"),
        "take it out; options of one run belong on the command line",
    )
