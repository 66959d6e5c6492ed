"""Pins can come only from a torch index, and the lock names none.

Why it matters: an ordinary index takes no release with a local label such as +cu128. Where these come from is a setting
of the machine that rebuilds, and not of the lock; on another one nothing is found, or another index's file. A hash on
the line binds the file wherever it is found, so hashed pins are passed over.

What to do: hash every line, put `--index-url` or `--extra-index-url` of the torch index into the lock, or use a format
that records it for each package (uv.lock, pylock.toml). A Pipfile.lock with several sources records one for those
packages alone that name it in the Pipfile: name it there.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.locks.torch_index import is_label
from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault, many
from envdoctor.versions import label
from envdoctor.views.lock_origins import OPTIONS


def _of_pipfile(lock: Lock) -> Iterable[Finding]:
    """Report the pins that name none of several sources: pipenv takes the first, an exported lock leaves it open."""
    fetched = [package for package in lock.packages if package.source == "index"]
    open_pins = [package for package in fetched if not package.url]
    if len(lock.indexes) > 1 and open_pins:
        yield fault(
            Severity.WARNING,
            lock,
            open_pins[0],
            f"{len(open_pins):,} of {len(fetched):,} pins do not say which of the lock's {len(lock.indexes)} sources"
            " they are from",
            subject=lock.path,
            text=open_pins[0].raw_name,
            remedy=("give each package in the Pipfile its `index`, and lock again: pipenv lock",),
            **many(open_pins),
        )


def check(lock: Lock) -> Iterable[Finding]:
    """Report it once, at the first such pin of a requirements lock; the other formats record an address of each."""
    if lock.format == "pipfile":
        yield from _of_pipfile(lock)
        return
    fetched = [package for package in lock.packages if package.source == "index" and not package.artifacts]
    bound = [package for package in fetched if not package.hashed and is_label(label(package.version))]
    named = any(option.name in OPTIONS for option in lock.options) or any(package.url for package in fetched)
    if bound and not named:
        first, more = bound[0], f" and {len(bound) - 1} more" if len(bound) > 1 else ""
        yield fault(
            Severity.WARNING,
            lock,
            first,
            f"{first.name}=={first.version}{more} can come only from a torch index, and the lock names none",
            subject=lock.path,
            text=first.version or "",
            remedy=("hash every line, or name the torch index in the lock",),
            **many(bound),
        )
