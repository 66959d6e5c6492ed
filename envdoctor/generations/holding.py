"""One at a time: who changes an environment holds its lock, and so does every tool that works for him.

flock(2) belongs to the open file, so that a lock inherited by an installer lasts until that has ended too, though the
doctor was killed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Iterator

from envdoctor.errors import EnvDoctorError
from envdoctor.generations.layout import Layout
from envdoctor.printable import printable

PATIENCE = 5.0
"""Seconds that the remains of a killed run have to end."""


@contextlib.contextmanager
def held(layout: Layout, host: str, *, patience: float = PATIENCE) -> Iterator[int]:
    """Hold the lock of an environment; gives the descriptor that tools are to inherit.

    Raises EnvDoctorError, naming who holds it, if it is not free within `patience` seconds.
    """
    descriptor = _opened(layout)
    try:
        _acquire(descriptor, layout, patience)
        with contextlib.suppress(OSError):  # a full disk: the lock holds without a name on it
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps({"pid": os.getpid(), "host": host}).encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _opened(layout: Layout) -> int:
    """Open the lock file, which everybody may write who may write beside the environment, as the umask has it."""
    try:
        os.makedirs(layout.home, exist_ok=True)
        _ignored(os.path.dirname(layout.home))
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(layout.lock, flags, 0o666)
    except OSError as error:
        said = "is a link, which nobody made for this" if error.errno == errno.ELOOP else error.strerror or error
        raise EnvDoctorError(f"{error.filename}: {said}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise EnvDoctorError(f"{layout.lock}: is not a regular file; remove it")
    return descriptor


def _ignored(folder: str) -> None:
    """Keep the generations out of the project's repository, as venv and uv do with an environment."""
    with contextlib.suppress(OSError), open(os.path.join(folder, ".gitignore"), "x", encoding="utf-8") as stream:
        stream.write("*\n")


def _acquire(descriptor: int, layout: Layout, patience: float) -> None:
    ends = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise EnvDoctorError(f"{layout.lock}: cannot be locked here: {error.strerror or error}") from error
            if time.monotonic() > ends:
                raise EnvDoctorError(f"{layout.link} is being changed by {_holder(descriptor)}; wait for it") from error
            time.sleep(0.05)
        else:
            return


def _holder(descriptor: int) -> str:
    """Say who holds it, as far as he has said it."""
    try:
        data = json.loads(os.pread(descriptor, 4096, 0))
        return printable(f"process {int(data['pid'])} on {str(data['host'])[:100]}")
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return "another process"
