"""A line of the lock asks for a package without naming one release.

Why it matters: what is installed then depends on the day. Only `==` without a wildcard, `===`, or an address with a
digest names one release; `uv pip sync` installs the rest as it comes, without a word.

What to do: lock again with pip-compile or uv, which pin every line.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault


def check(lock: Lock) -> Iterable[Finding]:
    """Report each such line, as the reader met it."""
    for problem in lock.problems:
        if problem.rule == "unpinned":
            yield fault(
                Severity.ERROR,
                lock,
                problem,
                problem.message,
                text=problem.text,
                subject=problem.subject,
                remedy=("pin it: NAME==VERSION",),
            )
