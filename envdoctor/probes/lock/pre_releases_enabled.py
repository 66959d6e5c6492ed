"""The lock lets installers choose unfinished releases.

Why it matters: pins name their release, but whatever is resolved beside them (build requirements, packages that are not
pinned) may become an alpha or nightly, which is deleted soon.

What to do: drop the option; a pin of a pre-release needs none.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault


def check(lock: Lock) -> Iterable[Finding]:
    """Report each option line; one that names packages is a note."""
    for option in lock.options:
        names = [name for name in option.value.split(",") if name and name != ":none:"]
        if option.name == "--pre" or (option.name == "--all-releases" and names):
            broad = option.name == "--pre" or ":all:" in names
            yield fault(
                Severity.WARNING if broad else Severity.NOTE,
                lock,
                option,
                f"{option.text} lets installers choose pre-releases of {'everything' if broad else ', '.join(names)}",
                remedy=("drop it, and lock again",),
            )
