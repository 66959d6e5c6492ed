"""Every file that a lock allows, with its digests; a pin of a requirements lock is one file whose name is not known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from envdoctor.locks.text import name_and_version, normalised
from envdoctor.model import Lock, LockedPackage

WEAK = ("md5", "sha1", "sha224", "sha3_224")
"""Algorithms of which two files with one digest can be made, or that are shorter than hash-checking installers ask."""


@dataclass(frozen=True, slots=True)
class LockFile:
    """One file of a package from an index or an address."""

    package: LockedPackage
    name: str
    """"" where the lock names none."""
    url: str
    """"" where the lock gives none; a path where it is on this machine."""
    hashes: tuple[str, ...]

    @property
    def strong(self) -> bool:
        """True if one of its digests is sha256 or better."""
        return any(digest.partition(":")[0] not in WEAK for digest in self.hashes)

    @property
    def local(self) -> bool:
        """True if it lies in the file system."""
        return bool(self.url) and ("://" not in self.url or self.url.startswith("file:"))

    @property
    def written(self) -> str:
        """Its name as the lock writes it: `%2B` in an address stays that."""
        return re.split(r"[?#]", self.url, maxsplit=1)[0].rpartition("/")[2] if "://" in self.url else self.name

    def named(self) -> tuple[str, str] | None:
        """Return the project, normalised, and the version that its name says; None if it says none."""
        found = name_and_version(self.name)
        return None if found is None else (normalised(found[0]), found[1])


@dataclass(frozen=True, slots=True)
class LockFiles:
    """All of them, in the order of the lock."""

    files: tuple[LockFile, ...]

    def indexed(self) -> tuple[LockFile, ...]:
        """Return those that come from an index."""
        return tuple(file for file in self.files if file.package.source == "index")


def view(lock: Lock) -> LockFiles:
    """Go through the packages; a commit or a folder is no file."""
    return LockFiles(tuple(file for package in lock.packages for file in _files(package)))


def _files(package: LockedPackage) -> Iterator[LockFile]:
    if package.artifacts:
        for item in package.artifacts:
            yield LockFile(package, item.name, item.url, item.hashes)
    elif package.source in ("index", "url"):
        yield LockFile(package, "", package.url if package.source == "url" else "", package.hashes)
