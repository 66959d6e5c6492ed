"""The lock holds a digest that the index does not list for the release.

Why it matters: nobody has published a file with that digest under the name and version. It was changed, or carried over
from an older lock: pip-compile and uv take digests from the file that they replace without checking them. A file that
has it would be installed; if there is none, the install fails.

What to do: find out where the digest came from, then lock again into an empty file, so that none is carried over.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import SHOWN, fault
from envdoctor.views.lock_listed import LockListed


def check(lock: Lock, lock_listed: LockListed) -> Iterable[Finding]:
    """Report each pin with such digests, at the first of them."""
    for pin in lock_listed.pins:
        if pin.unlisted:
            package, count = pin.package, len(pin.unlisted)
            which = "a digest" if count == 1 else f"{count:,} digests"
            yield fault(
                Severity.ERROR,
                lock,
                package,
                f"{package.name} {package.version} has {which} that the index does not list: {pin.unlisted[0]}",
                text=pin.unlisted[0].partition(":")[2],
                digests=list(pin.unlisted[:SHOWN]),
                count=count,
                remedy=("lock again into an empty file: no digest is carried over then",),
            )
