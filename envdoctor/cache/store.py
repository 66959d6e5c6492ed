"""The saves of one environment: a directory, a file a save, named for the moment and the host."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from envdoctor.cache.manifest import Manifest
from envdoctor.cache.packing import Unpacker
from envdoctor.errors import DamagedSaveError, EnvDoctorError, UsageError
from envdoctor.system.reading import opened

SUFFIX = ".tar.zst"
_LITTER = re.compile(r"\.\d{8}T\d{6}")
"""What a save that was killed half-way leaves (write_atomically)."""
_UNFIT = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True, slots=True)
class Listed:
    """One save as far as its manifest tells."""

    path: str
    size: int
    """Bytes of the file."""
    manifest: Manifest | None
    problem: str = ""
    """Why there is no manifest."""


def name(stamp: str, host: str) -> str:
    """Name a save: the names of one store sort by time."""
    return f"{stamp}-{_UNFIT.sub('_', host)[:100]}{SUFFIX}"


def paths(folder: str) -> list[str]:
    """Return the saves of a store, oldest first."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX) and not name.startswith("."))
    except FileNotFoundError:
        return []
    return [os.path.join(folder, name) for name in names]


def latest(folder: str) -> str:
    """Return the youngest save. Raises UsageError if there is none."""
    found = paths(folder)
    if not found:
        raise UsageError(f"no save for this environment in {folder}; make one with `envdoctor cache save`")
    return found[-1]


@contextlib.contextmanager
def unpacking(path: str) -> Iterator[Unpacker]:
    """Open a save. Raises UsageError if it is none or cannot be opened, DamagedSaveError if it is damaged."""
    try:
        stream = opened(path)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    with stream:
        yield Unpacker(stream, path)


def read(path: str) -> Manifest:
    """Read a save's manifest alone."""
    with unpacking(path) as save:
        return save.manifest


def listed(folder: str) -> list[Listed]:
    """Look at every save, youngest first."""
    found = []
    for path in reversed(paths(folder)):
        try:
            found.append(Listed(path, os.stat(path).st_size, read(path)))
        except FileNotFoundError:
            continue
        except (UsageError, DamagedSaveError) as error:
            found.append(Listed(path, os.stat(path).st_size, None, str(error).removeprefix(f"{path}: ")))
    return found


@contextlib.contextmanager
def held(folder: str) -> Iterator[None]:
    """Make the store if need be, keep other saves out of it, and clear it of what a killed one left."""
    make_private(folder)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        for left in os.listdir(folder):
            if _LITTER.match(left):
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(folder, left))
        yield
    finally:
        os.close(descriptor)


def make_private(folder: str) -> None:
    """Make a directory and all above it that are missing, of mode 0700. Raises EnvDoctorError if it cannot."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    try:
        for path in reversed(missing):
            with contextlib.suppress(FileExistsError):
                os.mkdir(path, 0o700)
    except OSError as error:
        raise EnvDoctorError(f"{error.filename}: cannot be made: {error.strerror or error}") from error


def thin_out(folder: str, keep: int, manifest: Manifest) -> list[str]:
    """Remove the older saves of the same cache on the same host, but for so many; return what was removed."""
    key = (manifest.host, manifest.cache)
    same = [item.path for item in listed(folder) if item.manifest and (item.manifest.host, item.manifest.cache) == key]
    for path in same[keep:]:
        os.unlink(path)
    return same[keep:]
