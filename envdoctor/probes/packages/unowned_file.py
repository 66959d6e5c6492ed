"""Something lies in site-packages that no package owns.

Why it matters: a stray module can be imported, shadow a real one, and survives every uninstall and upgrade. No lock
describes it.

What to do: find out who put it there; move it out of the environment, or make a package of it. Unowned files inside an
owned package (built kernels, downloads, caches) are a note for that package. A file whose name begins with `.wh.` is a
mark in an image layer by which it deletes what lower layers hold (OCI image specification, layer.md, "Whiteouts"):
whoever unpacked the image did not apply it.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.owners import Owners, Unowned
from envdoctor.model import Finding, Severity

WHITEOUT, OPAQUE = ".wh.", ".wh..wh..opq"


def check(owners: Owners) -> Iterable[Finding]:
    """Report top-level strays one by one, those inside packages by package."""
    for stray in owners.unowned:
        evidence = {"path": stray.path, "paths": list(stray.examples), "count": stray.count}
        files = f"{stray.count} file{'s' if stray.count > 1 else ''}"
        if stray.owner is None:
            message, step = _stray(stray, files)
            yield Finding(Severity.WARNING, stray.path, message, evidence, (step,))
        else:
            yield Finding(Severity.NOTE, stray.owner, f"{files} below {stray.owner} came from no package", evidence)


def _stray(stray: Unowned, files: str) -> tuple[str, str]:
    """Return what is said of a top-level stray, and what to do."""
    folder, _, what = stray.path.rpartition("/")
    if what.startswith(WHITEOUT):
        deleted = "all that lower layers have there" if what == OPAQUE else what.removeprefix(WHITEOUT)
        said = f"{what} in site-packages is an image layer's mark, not applied, that deletes {deleted}"
        return said, "unpack the image's layers with a tool that applies such marks, and check that"
    size = f" ({files})" if stray.count > 1 else ""
    said = f"{what}{size} in site-packages belongs to no package"
    return said, f"find out what put it there, then move it out of {folder}"
