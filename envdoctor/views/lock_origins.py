"""Every place outside itself that a lock takes something from, by what names it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from envdoctor.locks import addresses
from envdoctor.model import Lock, LockedPackage, LockOption

Kind = Literal["index", "annotation", "file", "vcs"]
OPTIONS = ("--index-url", "--pypi-url", "--extra-index-url", "--find-links")
"""Options of a requirements lock that name places."""


@dataclass(frozen=True, slots=True)
class Origin:
    """One address."""

    kind: Kind
    """`annotation`: an index that a comment names, which no installer obeys; `file`: also a direct address."""
    address: str
    """Secrets redacted."""
    where: LockedPackage | LockOption
    fixed: bool = False
    """True if a digest says what has to come from there."""

    @property
    def host(self) -> str:
        """Lower case, "" for a path."""
        return addresses.host(self.address)


@dataclass(frozen=True, slots=True)
class LockOrigins:
    """All of them, options first."""

    origins: tuple[Origin, ...]


def view(lock: Lock) -> LockOrigins:
    """Gather them."""
    given = (Origin("index", option.value, option) for option in lock.options if option.name in OPTIONS)
    of_packages = (origin for package in lock.packages for origin in _of(lock, package))
    return LockOrigins(tuple(origin for origin in (*given, *of_packages) if origin.host))


def _of(lock: Lock, package: LockedPackage) -> Iterator[Origin]:
    if package.source == "vcs" or (package.source == "editable" and "+" in package.url.partition("://")[0]):
        yield Origin("vcs", package.url, package)
    elif package.source == "index" and package.url and lock.format != "pipfile":  # its options name them
        yield Origin("annotation" if lock.format == "requirements" else "index", package.url, package)
    for artifact in package.artifacts:
        fixed = any(digest.startswith(("sha256:", "sha384:", "sha512:")) for digest in artifact.hashes)
        yield Origin("file", artifact.url, package, fixed)
