"""A directory of archives under their own names: what pip and uv take by --find-links where there is no network.

Nothing is removed from it. Each file appears whole or not at all, and `SHA256SUMS` lists them for `sha256sum -c`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass

from envdoctor.archives import Archive
from envdoctor.archives.store import BLOCK, digests
from envdoctor.errors import EnvDoctorError
from envdoctor.system.host import write_all, write_atomically
from envdoctor.system.reading import opened

SUMS = "SHA256SUMS"


@dataclass(frozen=True, slots=True)
class Filled:
    """What came of it; file names."""

    new: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    """Those that were there already, byte for byte."""
    replaced: tuple[str, ...] = ()
    """Those that were there with other bytes."""
    others: tuple[str, ...] = ()
    """What else lies there, untouched."""
    size: int = 0
    """Bytes of all but the others."""

    @property
    def count(self) -> int:
        """Files, without the others and the list of sums."""
        return len(self.new) + len(self.kept) + len(self.replaced)


def fill(folder: str, archives: Iterable[Archive]) -> Filled:
    """Lay archives out in a directory, made if need be. Raises EnvDoctorError."""
    wanted = {archive.filename: archive for archive in archives}
    found: dict[str, list[str]] = {"new": [], "kept": [], "replaced": []}
    try:
        os.makedirs(folder, exist_ok=True)
        for name, archive in sorted(wanted.items()):
            path = os.path.join(folder, name)
            state = "new" if not os.path.lexists(path) else "kept" if _is(path, archive) else "replaced"
            if state != "kept":
                _copy(archive, path)
            found[state].append(name)
        others = sorted(set(os.listdir(folder)) - wanted.keys() - {SUMS})
    except OSError as error:
        raise EnvDoctorError(f"{error.filename or folder}: {error.strerror or error}") from error
    _list(folder, wanted.values())
    size = sum(archive.size for archive in wanted.values())
    new, kept, replaced = (tuple(found[state]) for state in ("new", "kept", "replaced"))
    return Filled(new, kept, replaced, tuple(others), size)


def _is(path: str, archive: Archive) -> bool:
    try:
        return f"sha256:{archive.sha256}" in digests(path)
    except (OSError, ValueError):
        return False


def _copy(archive: Archive, path: str) -> None:
    """Copy a file out of the store. Raises EnvDoctorError, also if it is not any more what it was."""

    def write(descriptor: int) -> None:
        digest = hashlib.sha256()
        with opened(archive.path) as source:
            while block := source.read(BLOCK):
                digest.update(block)
                write_all(descriptor, block)
        if digest.hexdigest() != archive.sha256:
            raise EnvDoctorError(f"{archive.path} is not what it was a moment ago; run it again")

    write_atomically(path, write)


def _list(folder: str, archives: Iterable[Archive]) -> None:
    """Write the list of sums, of what is ours alone."""
    lines = sorted(f"{archive.sha256}  {archive.filename}\n" for archive in archives)
    data = "".join(sorted(lines, key=lambda line: line.partition("  ")[2])).encode()
    path = os.path.join(folder, SUMS)
    try:
        with opened(path) as stream:
            same = stream.read(len(data) + 1) == data
    except (OSError, ValueError):
        same = False
    if not same:
        write_atomically(path, lambda descriptor: write_all(descriptor, data))
