"""Where the state lies, and what may stand there: one directory of the user's own, and regular files in it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping

from envdoctor.errors import EnvDoctorError
from envdoctor.system.trust import strangers

SYSTEM = "/var/lib"
"""Where the state of services lies (Filesystem Hierarchy Standard 3.0, 5.8)."""
BESIDE = ("-journal", "-wal", "-shm")
"""What SQLite keeps beside a database (sqlite.org/tempfiles.html)."""


class StateError(EnvDoctorError):
    """The state cannot be read or written. A check goes on without it."""


class DamagedError(StateError):
    """The file is no database of ours."""


def path_of(env: Mapping[str, str], home: str, host: str, *, root: bool | None = None) -> str:
    """Return the file of a host: below $XDG_STATE_HOME, root's below /var/lib where it may write, else below home.

    $HOME may be shared between nodes, so each host has a file of its own. A relative XDG_STATE_HOME is to be ignored
    (XDG base directory specification).
    """
    state = env.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        is_root = os.geteuid() == 0 if root is None else root
        state = SYSTEM if is_root and _writable(SYSTEM) else os.path.join(home, ".local", "state")
    return os.path.join(state, "envdoctor", f"{re.sub(r'[^A-Za-z0-9._-]', '_', host)[:100] or 'host'}.sqlite")


def _writable(folder: str) -> bool:
    """Tell for the directory itself, or for ours in it, which a hardened service may write and nothing else."""
    return any(os.access(path, os.W_OK | os.X_OK) for path in (os.path.join(folder, "envdoctor"), folder))


def prepare(path: str) -> None:
    """Make the directory (0700) and the file (0600) if they are not there. Raises StateError as `examine` does."""
    folder = os.path.dirname(path)
    try:
        if os.geteuid() == 0:
            _reached_by_root_alone(os.path.dirname(folder))
        os.makedirs(folder, mode=0o700, exist_ok=True)
        _close_to_others(folder)
        examine(path)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise StateError(f"{error.filename or folder}: {error.strerror or error}") from error
    try:
        if stat.S_IMODE(os.fstat(descriptor).st_mode) & 0o077:
            os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)


def _close_to_others(folder: str) -> None:
    """Take from others what lets them put files there; whose it is, `examine` says."""
    status = os.lstat(folder)
    if stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and status.st_mode & 0o022:
        os.chmod(folder, stat.S_IMODE(status.st_mode) & ~0o022)


def examine(path: str) -> bool:
    """Tell whether there is a file. Nobody else may have put anything there: SQLite opens by name, and follows links.

    Raises StateError if the directory is somebody else's or open to others, DamagedError if what has the name of the
    file or of its journal is a link, a FIFO or no regular file of this user's.
    """
    folder = os.path.dirname(path)
    try:
        status = os.stat(folder)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StateError(f"{folder}: {error.strerror or error}") from error
    if status.st_uid != os.geteuid():
        raise StateError(f"{folder}: belongs to user {status.st_uid}, and this runs as {os.geteuid()}")
    if status.st_mode & 0o022:
        raise StateError(f"{folder}: others may write there (mode {stat.S_IMODE(status.st_mode):o})")
    if status.st_uid == 0:
        _reached_by_root_alone(folder)
    there, *_ = [_is_ours(f"{path}{ending}") for ending in ("", *BESIDE)]
    return there


def _reached_by_root_alone(folder: str) -> None:
    """Raise StateError if somebody else could lead root elsewhere, by a link on the way as well. /tmp is fine."""
    here = os.path.abspath(folder)
    while not os.path.lexists(here):
        here = os.path.dirname(here)
    try:
        status = os.stat(here)
        shared = status.st_uid == 0 and status.st_mode & stat.S_ISVTX
        who = strangers(os.path.dirname(here) if shared else here, 0)
    except OSError as error:
        raise StateError(f"{folder}: {error.strerror or error}") from error
    if who:
        raise StateError(f"{folder}: root keeps nothing there: {who}")


def _is_ours(path: str) -> bool:
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StateError(f"{path}: {error.strerror or error}") from error
    if not stat.S_ISREG(status.st_mode):
        raise DamagedError(f"{path}: is not a regular file")
    if status.st_uid != os.geteuid() or status.st_nlink > 1:
        raise DamagedError(f"{path}: is not this user's own, or has another name as well")
    return True
