"""Answers that processes of one user on one node share for a while: a private directory in memory, a lock for each.

Node-local on purpose: what is true of one node need not be of another, and a file server that hangs cannot be met here.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Iterator, Mapping

from envdoctor.errors import EnvDoctorError
from envdoctor.system.host import write_all, write_atomically
from envdoctor.system.reading import opened

MEMORY = "/dev/shm"  # noqa: S108 - shm_open(3): a tmpfs, so it never leaves this node
KEPT = 86400.0
"""Seconds after which an answer is removed by the next one that is put there."""
LIMIT = 64 << 20
"""Bytes of one answer."""
POLL = 0.02
"""Seconds between two tries for a lock that somebody else holds."""


class ShelfError(EnvDoctorError):
    """Nothing can be shared here."""


class Shelf:
    """The directory of this user: below XDG_RUNTIME_DIR (which its specification keeps on this node), or in memory.

    Raises ShelfError if it cannot be made, or if others could write there.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        runtime = env.get("XDG_RUNTIME_DIR", "")
        base = runtime if os.path.isabs(runtime) and os.path.isdir(runtime) else MEMORY
        self.folder = os.path.join(base, f"envdoctor-{os.getuid()}")
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(self.folder, 0o700)
            status = os.lstat(self.folder)
        except OSError as error:
            raise ShelfError(f"{self.folder}: {error.strerror or error}") from error
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
            raise ShelfError(f"{self.folder}: is not a private directory of this user's")

    def locked(self, key: str, patience: float) -> contextlib.AbstractContextManager[bool]:
        """Hold the lock of a key, waiting up to `patience` seconds; give False if somebody else still has it.

        The kernel lets go of it when this process ends, however it ends; children do not inherit it. Raises ShelfError.
        """
        path = os.path.join(self.folder, "lock")
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ShelfError(f"{path}: {error.strerror or error}") from error
        return _held(descriptor, int(key[:15], 16), patience)

    def read(self, key: str) -> bytes | None:
        """Return what was put there under a key (hexadecimal), None if there is nothing that can be read."""
        try:
            with opened(os.path.join(self.folder, key), follow=False) as stream:
                return stream.read(LIMIT)
        except (OSError, ValueError):
            return None

    def put(self, key: str, data: bytes) -> None:
        """Put an answer there, whole or not at all, and remove old ones. Raises ShelfError."""
        self._clear()
        try:
            write_atomically(os.path.join(self.folder, key), lambda descriptor: write_all(descriptor, data), mode=0o600)
        except EnvDoctorError as error:
            raise ShelfError(str(error)) from error

    def _clear(self) -> None:
        oldest = time.time() - KEPT
        with contextlib.suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name != "lock" and entry.stat(follow_symlinks=False).st_mtime < oldest:
                    os.unlink(entry.path)


@contextlib.contextmanager
def _held(descriptor: int, slot: int, patience: float) -> Iterator[bool]:
    ends = time.monotonic() + patience
    try:
        while not (held := _tried(descriptor, slot)) and time.monotonic() < ends:
            time.sleep(POLL)
        yield held
    finally:
        os.close(descriptor)


def _tried(descriptor: int, slot: int) -> bool:
    """Lock one byte, far beyond the end of a file that has none, which fcntl(2) allows."""
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, slot)
    except OSError:
        return False
    return True
