"""Packages may come from a folder or page beside the index.

Why it matters: pip and uv take what they find there with what the index has, and the lock does not say which of the two
a pin came from. A folder holds what somebody put there; a page may change.

What to do: serve the files from an index, or name each by its address and digest.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.locks import addresses
from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault


def check(lock: Lock) -> Iterable[Finding]:
    """Report each option line."""
    for option in lock.options:
        if option.name == "--find-links":
            place = addresses.host(option.value) or option.value
            yield fault(
                Severity.WARNING,
                lock,
                option,
                f"--find-links lets packages come from {place}, and no pin says which do",
                subject=place,
                remedy=("drop the line, and name the files that are needed by address and digest",),
            )
