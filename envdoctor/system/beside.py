"""Make a tree where nobody looks yet, then put it in place file by file: nobody ever sees a part of a file.

A directory of that kind is locked by the process that fills it (flock(2)); one that nobody holds was left by a killed
process and is removed by the next.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from typing import Self

from envdoctor.errors import EnvDoctorError
from envdoctor.system.descendants import uninterrupted

MARK = "tmp.envdoctor-"
"""How the directory's name begins: what begins with `tmp.` in a compile cache is nobody's entry."""


@contextlib.contextmanager
def staged(folder: str) -> Iterator[str]:
    """Give a private directory on the file system of `folder`: in it if it is there, otherwise beside it."""
    inside = os.path.isdir(folder)
    parent, mark = (folder, MARK) if inside else (os.path.dirname(folder), f".{os.path.basename(folder)}.{MARK}")
    _clear(parent, mark)
    place = tempfile.mkdtemp(prefix=mark, dir=parent)
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield place
    finally:
        with uninterrupted():
            shutil.rmtree(place, ignore_errors=True)
        os.close(descriptor)


def _clear(parent: str, mark: str) -> None:
    """Remove what killed processes left there."""
    for name in os.listdir(parent):
        if not name.startswith(mark):
            continue
        with contextlib.suppress(OSError):
            descriptor = os.open(os.path.join(parent, name), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(os.path.join(parent, name), ignore_errors=True)
            finally:
                os.close(descriptor)


def write_new(path: str, blocks: Iterable[bytes | memoryview], *, mode: int) -> None:
    """Write a file that is not there yet."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        for block in blocks:
            left = memoryview(block)
            while left:
                left = left[os.write(descriptor, left) :]
    finally:
        os.close(descriptor)


def settle(folder: str) -> None:
    """Have the file system that holds a directory write out what it has (syncfs(2)): a crash leaves no empty files."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), folder)
    finally:
        os.close(descriptor)


def swap_in(tree: str, folder: str) -> bool:
    """Rename a whole directory to one that is not there, or is empty; False if there is something."""
    try:
        os.rename(tree, folder)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            return False
        raise
    return True


class Merge:
    """Puts files of a tree into a directory that is there, without replacing any, and without following links in it."""

    def __init__(self, tree: str, folder: str) -> None:
        self.tree, self.folder = tree, folder
        self.open: dict[str, int] = {}

    def __enter__(self) -> Self:
        """Open the directory."""
        self.open[""] = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        return self

    def __exit__(self, *_: object) -> None:
        """Close all directories."""
        for descriptor in self.open.values():
            os.close(descriptor)

    def add(self, path: str) -> bool:
        """Put one file in place; False if there is something of that name. Raises EnvDoctorError if it cannot."""
        parent, name = os.path.split(path)
        place = self._directory(parent)
        source = os.path.join(self.tree, path)
        try:
            os.link(source, name, dst_dir_fd=place, follow_symlinks=False)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK):
                raise EnvDoctorError(f"{self.folder}/{path}: {error.strerror}") from error
            return self._rename(source, name, place)
        return True

    def _rename(self, source: str, name: str, place: int) -> bool:
        """Do without hard links, where the file system has none."""
        try:
            os.stat(name, dir_fd=place, follow_symlinks=False)
        except FileNotFoundError:
            os.rename(source, name, dst_dir_fd=place)
            return True
        return False

    def _directory(self, path: str) -> int:
        """Open a directory below, making it if need be; few are open at a time."""
        if path in self.open:
            return self.open[path]
        parent, name = os.path.split(path)
        above = self._directory(parent)
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=above)
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            found = os.open(name, flags, dir_fd=above)
        except OSError as error:
            raise EnvDoctorError(f"{self.folder}/{path}: is in the way: {error.strerror}") from error
        self._forget(path)
        self.open[path] = found
        return found

    def _forget(self, path: str) -> None:
        """Close what does not lie above a path: paths come in order, so it is not needed again soon."""
        for other in [other for other in self.open if other and not path.startswith(f"{other}/")]:
            os.close(self.open.pop(other))
