"""A line of the lock asks for a package without naming one release.

Why it matters: what is installed then depends on the day. Only `==` without a wildcard, `===`, or an address with a
digest names one release; `uv pip sync` installs the rest as it comes, without a word.

What to do: lock again with pip-compile or uv, which pin every line.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock
from envdoctor.pointing import met, of_rule


def check(lock: Lock) -> Iterable[Finding]:
    """Report each such package, as the reader met it."""
    return met(lock, of_rule(lock, "unpinned"), "pin it: NAME==VERSION")
