"""A pin compares versions as text.

Why it matters: `===` knows no version: `2.0` is not `2.0.0` to it, a build label is never left out, and a text that is
no version at all passes. Tools that compare versions take such a pin for `==`, or do not read it.

What to do: write `==`.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault, once


def check(lock: Lock) -> Iterable[Finding]:
    """Report each package once, at the operator."""
    found = (package for package in lock.packages if package.operator == "===")
    for package in once(found, lambda package: package.name):
        said = f"{package.name} is pinned by ===, which compares {package.version} as text"
        pin = f"{package.raw_name}=={package.version}"
        yield fault(Severity.WARNING, lock, package, said, text="===", remedy=(f"write {pin}",))
