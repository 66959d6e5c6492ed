"""Pins that nothing asks for, where the lock says who asks for what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from envdoctor import locks
from envdoctor.model import Lock, LockedPackage, Unavailable

UNKNOWN = Unavailable("the lock does not say who needs what")
ANNOTATING = ("pip-compile", "uv pip compile", "envdoctor lock compile")
"""Tools that note who asks for each pin, unless told not to; `uv export` leaves out what is asked for directly."""
LEFT_OUT = ("--unsafe-package", "--no-emit-package", "--only-emit-package", "--exclude")
"""Options by which they leave a package out of the lock, and keep what it asks for."""


@dataclass(frozen=True, slots=True)
class LockOrphans:
    """All of them."""

    packages: tuple[LockedPackage, ...]


def view(lock: Lock) -> LockOrphans | Unavailable:
    """Walk uv's graph from the members of the workspace, or read what the comments of a requirements lock say."""
    if lock.format == "uv":
        return LockOrphans(tuple(_unreached(lock)))
    # a pylock.toml may hold a graph (PEP 751, `dependencies`), and never says where it begins
    annotated = any(package.via for package in lock.packages if not package.file)
    if lock.format != "requirements" or lock.header.tool not in ANNOTATING or not annotated:
        return UNKNOWN
    return LockOrphans(tuple(_unasked(lock)))


def _unreached(lock: Lock) -> Iterator[LockedPackage]:
    allowed = locks.select(lock, {}).allowed
    for package in lock.packages if lock.roots else ():
        if package.name and all(package is not reached for reached in allowed.get(package.name, ())):
            yield package


def _unasked(lock: Lock) -> Iterator[LockedPackage]:
    names = {package.name for package in lock.packages}
    partial = any(option in lock.header.command for option in LEFT_OUT)
    for package in lock.packages:
        known = any(_is_root(asker) or asker in names for asker in package.via)
        if not package.file and not known and not (package.via and partial):
            yield package


def _is_root(asker: str) -> bool:
    """Tell whether an asker is an input (`-r requirements.in`, `gcm (pyproject.toml)`) and no package."""
    return asker.startswith("-") or "(" in asker or "/" in asker
