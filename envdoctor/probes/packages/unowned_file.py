"""Something lies in site-packages that no package owns.

Why it matters: a stray module can be imported, shadow a real one, and survives every uninstall and upgrade. No lock
describes it.

What to do: find out who put it there; move it out of the environment, or make a package of it. Unowned files inside an
owned package (built kernels, downloads, caches) are a note for that package.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.owners import Owners
from envdoctor.model import Finding, Severity


def check(owners: Owners) -> Iterable[Finding]:
    """Report top-level strays one by one, those inside packages by package."""
    for stray in owners.unowned:
        evidence = {"path": stray.path, "paths": list(stray.examples), "count": stray.count}
        files = f"{stray.count} file{'s' if stray.count > 1 else ''}"
        if stray.owner is None:
            what = stray.path.rpartition("/")[2]
            size = f" ({files})" if stray.count > 1 else ""
            message = f"{what}{size} in site-packages belongs to no package"
            yield Finding(
                Severity.WARNING,
                stray.path,
                message,
                evidence,
                (f"find out what put it there, then move it out of {stray.path.rpartition('/')[0]}",),
            )
        else:
            yield Finding(Severity.NOTE, stray.owner, f"{files} below {stray.owner} came from no package", evidence)
