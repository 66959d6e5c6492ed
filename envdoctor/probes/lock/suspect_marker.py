"""Markers ask for extras that no installer of this lock ever turns on, so that their pins are left out without a word.

Why it matters: uv writes extras and groups that exclude each other as made-up extras (`extra-8-nanochat-gpu`), which
only its own lock can explain. In a requirements file or a pylock.toml `extra` is always empty: the pin is dropped, and
pip says at most "Ignoring".

What to do: export one file for each choice (`uv export --extra gpu`), or correct the markers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from envdoctor.model import Finding, Lock, LockedPackage, Severity
from envdoctor.pointing import fault, many

_EXTRA = re.compile(r"""\bextra\s*(?:==|!=)\s*["']([^"']+)["']""")
_MADE_UP = re.compile(r"(?:extra|group|project)-(\d+)-(.+)")


def check(lock: Lock) -> Iterable[Finding]:
    """Report it once, at the first such marker."""
    found = [(package, name) for package in lock.packages for name in _names(package) if _is_suspect(lock, name)]
    if found:
        package, name = found[0]
        yield fault(
            Severity.WARNING,
            lock,
            package,
            f"{package.name} is asked for with the extra {name!r}, which nothing turns on for this lock",
            subject=lock.path,
            text=name,
            extras=sorted({name for _, name in found}),
            remedy=("export one file for each choice of extras, or correct the markers",),
            **many(list({id(package): package for package, _ in found}.values())),
        )


def _names(package: LockedPackage) -> Iterator[str]:
    """Yield the extras that the markers of a package, and of what it needs, ask for."""
    for marker in (package.marker, *(edge.marker for edge in package.dependencies)):
        yield from _EXTRA.findall(marker or "")


def _is_suspect(lock: Lock, name: str) -> bool:
    match = _MADE_UP.fullmatch(name)
    made_up = match is not None and match[2][int(match[1]) :][:1] in ("", "-")
    if lock.format == "uv":
        return made_up and not any(name in members for members in lock.conflicts)
    return made_up or lock.format == "requirements"
