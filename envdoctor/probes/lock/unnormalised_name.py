"""A name is not written in its normalised form.

Why it matters: `zope.interface`, `Zope_Interface` and `zope-interface` are one project. Searches, reviews and scripts
that compare text miss it; a pylock.toml with such a name is invalid.

What to do: write names in lower case, with single hyphens; the tools that make locks do.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault, many

SHOWN = 3


def check(lock: Lock) -> Iterable[Finding]:
    """Report the file once."""
    found = [package for package in lock.packages if package.raw_name not in ("", package.name)]
    if found:
        names = list(dict.fromkeys(f"{package.raw_name} ({package.name})" for package in found))
        more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
        yield fault(
            Severity.ERROR if lock.format == "pylock" else Severity.NOTE,
            lock,
            found[0],
            f"{len(names):,} name{'s' * (len(names) > 1)} not in normal form: {', '.join(names[:SHOWN])}{more}",
            subject=lock.path,
            text=found[0].raw_name,
            remedy=("write names in lower case, with single hyphens",),
            **many(found),
        )
