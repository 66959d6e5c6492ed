"""A hashed lock leaves out setuptools or pip, which something in it needs.

Why it matters: with hashes pip refuses whatever has none, so that the lock cannot be installed into a bare environment.
uv pip sync installs it, and the first import of what needs setuptools fails.

What to do: `pip-compile --allow-unsafe`, or `envdoctor lock compile`.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.lock_scan import LockScan
from envdoctor.locks.text import normalised
from envdoctor.model import Finding, Lock, LockProblem, Severity
from envdoctor.pointing import fault


def check(lock: Lock, lock_scan: LockScan) -> Iterable[Finding]:
    """Report the comment by which pip-compile says so, unless the names are pinned all the same."""
    pinned = {package.name for package in lock.packages}
    for block in lock_scan.left_out if any(package.hashes for package in lock.packages) else ():
        missing = [name for name in block.names if normalised(name) not in pinned]
        if missing or (block.warned and not block.names):
            yield fault(
                Severity.WARNING,
                lock,
                LockProblem(block.line, "", block.file, text=block.text),
                f"the lock has hashes, and leaves out what pip then misses: {', '.join(missing) or 'see the comment'}",
                packages=missing,
                remedy=("lock again with --allow-unsafe",),
            )
