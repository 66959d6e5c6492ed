"""Changes of modes and of small files that are taken back, last first, if the work is given up half-way."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from envdoctor.errors import EnvDoctorError
from envdoctor.system.descendants import uninterrupted
from envdoctor.system.host import write_all, write_atomically
from envdoctor.system.reading import regular

LIMIT = 64 << 20
"""Bytes of a file that can be kept to be put back."""


@dataclass(frozen=True, slots=True)
class Content:
    """A small file, or a link in its place."""

    data: bytes = b""
    mode: int = 0o644
    link: str | None = None


def content(path: str) -> Content | None:
    """Return what lies at a path, None for nothing. Raises EnvDoctorError if it is neither a file nor a link."""
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            return Content(link=os.readlink(path))
        return Content(regular(path, LIMIT, follow=False), stat.S_IMODE(status.st_mode))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise EnvDoctorError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


class Changes:
    """What was changed so far."""

    def __init__(self) -> None:
        self._done: list[tuple[str, int | Content | Literal["folder"] | None]] = []

    def mode(self, path: str, old: int, new: int) -> None:
        """Give a file or directory other permissions. Raises EnvDoctorError if it cannot be done."""
        try:
            os.chmod(path, new)
        except FileNotFoundError:
            return  # byte code and temporary files come and go
        except OSError as error:
            raise EnvDoctorError(f"{path}: its mode cannot be changed: {error.strerror or error}") from error
        self._done.append((path, old))

    def put(self, path: str, new: Content | None) -> None:
        """Replace a file, or remove it. Raises EnvDoctorError if it cannot be done."""
        old = content(path)
        if old != new:
            self._done.append((path, old))
            _put(path, new)

    def folder(self, path: str) -> None:
        """Make a directory, if there is none. Raises EnvDoctorError if it cannot be done."""
        try:
            os.mkdir(path)
            self._done.append((path, "folder"))
        except FileExistsError:
            return
        except OSError as error:
            raise EnvDoctorError(f"{path}: cannot be made: {error.strerror or error}") from error

    @contextlib.contextmanager
    def or_none(self) -> Iterator[Changes]:
        """Take all changes back if what follows fails or is interrupted."""
        try:
            yield self
        except BaseException:
            self.take_back()
            raise

    def take_back(self) -> None:
        """Undo everything that can be undone. A second interruption waits."""
        with uninterrupted():
            while self._done:
                path, old = self._done.pop()
                with contextlib.suppress(OSError, EnvDoctorError):
                    if isinstance(old, int):
                        os.chmod(path, old)
                    elif old == "folder":
                        os.rmdir(path)
                    else:
                        _put(path, old)


def _put(path: str, new: Content | None) -> None:
    try:
        if new is None:
            os.unlink(path)
        elif new.link is not None:
            beside = f"{path}.{os.getpid()}"
            os.symlink(new.link, beside)
            os.replace(beside, path)
        else:
            data = new.data
            write_atomically(path, lambda descriptor: write_all(descriptor, data), mode=new.mode)
        if new is not None and os.geteuid() == 0:  # what root puts into a user's environment is the user's
            home = os.stat(os.path.dirname(path))
            os.chown(path, home.st_uid, home.st_gid, follow_symlinks=False)
    except OSError as error:
        raise EnvDoctorError(f"{path}: cannot be replaced: {error.strerror or error}") from error
