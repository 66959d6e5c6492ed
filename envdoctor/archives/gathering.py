"""What of a lock's files is here already, or lies in a directory: known by its digest, and put into the store."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

from envdoctor.archives import Archive
from envdoctor.archives.choosing import STRONG, Chooser
from envdoctor.archives.narrowing import Narrowed, Pin
from envdoctor.archives.store import Store, digests
from envdoctor.errors import EnvDoctorError, StepError
from envdoctor.locks.text import ARCHIVES, name_and_version, normalised
from envdoctor.printable import printable, size_of
from envdoctor.progress import Progress, Work

HASHERS = min(16, len(os.sched_getaffinity(0)) + 1)
"""Threads that hash, one more than cores, as some wait for the disk; hashlib lets go of the interpreter's lock."""


@dataclass(slots=True)
class Gathered:
    """What has been found so far."""

    narrowed: Narrowed
    folder: str
    """The lock's directory."""
    store: Store
    work: Work
    chooser: Chooser
    got: dict[str, Archive] = field(default_factory=dict)
    """By name; wheels, and source archives that are yet to be built."""

    def missing(self) -> list[Pin]:
        """Return the pins of which nothing is here."""
        return [pin for pin in self.narrowed.pins if pin.name not in self.got]

    def unbuilt(self) -> bool:
        """Tell whether something is to be built."""
        return any(not archive.filename.endswith(".whl") for archive in self.got.values())

    def _rank(self, pin: Pin, filename: str) -> int | None:
        """Return how good a file is for a pin, by its name; None if it is not for it."""
        if filename.endswith(".whl"):
            return self.chooser.rank(filename) if pin.build != "always" else None
        return len(self.narrowed.tags) if pin.build != "never" else None

    def kept(self) -> None:
        """Take what the store has, hashing it again."""
        pins = self.missing()
        with ThreadPoolExecutor(HASHERS) as pool:
            found = pool.map(lambda pin: self.store.find(pin.hashes, partial(self._rank, pin)), pins)
            for pin, archive in zip(pins, found, strict=True):
                if archive is not None:
                    self._take(pin, archive)
        for name in self.store.dropped:
            said = f"{printable(name)} in the store was not what it is named for, and is fetched anew"
            self.work.tell(Progress("fetch", said))
            self.work.log(f"{said}\n".encode())

    def _take(self, pin: Pin, archive: Archive) -> None:
        self.got[pin.name] = replace(archive, name=pin.name, version=archive.version or pin.version)
        self.progress(archive.filename)

    def progress(self, said: str, came: int = 0, to_come: int = 0) -> None:
        """Tell how far it is; of one file so many bytes have come."""
        pins = self.narrowed.pins
        if all(pin.size is not None for pin in pins):
            done = sum(pin.size or 0 for pin in pins if pin.name in self.got)
            self.work.tell(Progress("fetch", said, done + came, sum(pin.size or 0 for pin in pins), "bytes"))
        else:
            part = f", {size_of(came)} of {size_of(to_come)}" if to_come else ""
            self.work.tell(Progress("fetch", f"{said}{part}", len(self.got), len(pins), "packages"))

    def listed(self, folders: Iterable[str]) -> None:
        """Take what directories hold, and what the lock itself says lies beside it."""
        wanted = {pin.name: pin for pin in self.missing()}
        offered: dict[str, list[str]] = {}
        for path in _archives_in(folders):
            named = name_and_version(os.path.basename(path))
            if named is not None:
                offered.setdefault(normalised(named[0]), []).append(path)
        for name, pin in wanted.items():
            own = os.path.join(self.folder, pin.url.removeprefix("file://")) if _is_path(pin.url) else ""
            for path in self._ordered(pin, ([own] if own else []) + offered.get(name, [])):
                if self._is(path, pin):
                    self.put(pin, path)
                    break

    def _ordered(self, pin: Pin, paths: Iterable[str]) -> list[str]:
        """Return the files that may be a pin's, the one of its very name first, then the best."""
        ranked = [
            (self._rank(pin, name), name != pin.filename, path) for path in paths for name in [os.path.basename(path)]
        ]
        fitting = [(differs, rank, path) for rank, differs, path in ranked if rank is not None]
        return [path for _, _, path in sorted(fitting)]

    def _is(self, path: str, pin: Pin) -> bool:
        try:
            return not digests(path, _algorithms(pin)).isdisjoint(pin.hashes)
        except (OSError, ValueError):
            return False

    def put(self, pin: Pin, path: str) -> None:
        """Put a file into the store, and hold it against the pin as it lies there. Raises StepError."""
        try:
            archive = self.store.put(path)
        except EnvDoctorError as error:
            raise StepError("fetch", str(error)) from error
        found = digests(archive.path, _algorithms(pin)) if _algorithms(pin) != ("sha256",) else ()
        matching = [digest for digest in pin.hashes if digest in (f"sha256:{archive.sha256}", *found)]
        if not matching:
            said = f"{archive.filename} has sha256 {archive.sha256}, which is not in the lock"
            raise StepError("fetch", f"{pin.label}: {printable(said)}")
        for digest in matching:
            self.store.alias(archive, digest)
        self._take(pin, archive)


def _algorithms(pin: Pin) -> tuple[str, ...]:
    used = {digest.partition(":")[0] for digest in pin.hashes}
    return tuple(name for name in STRONG if name in used)


def _is_path(url: str) -> bool:
    return bool(url) and ("://" not in url or url.startswith("file://"))


def _archives_in(folders: Iterable[str]) -> Iterator[str]:
    for folder in dict.fromkeys(folders):
        try:
            names = sorted(os.listdir(folder))
        except OSError as error:
            raise StepError("fetch", f"{folder}: {error.strerror or error}") from error
        yield from (os.path.join(folder, name) for name in names if name.endswith(ARCHIVES))
