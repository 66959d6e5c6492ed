"""See an unpacked image as its own processes would: from `enter` on, no link below the root leads this process out.

The kernel does that for chroot(2), which takes a privilege, and for openat2(2) with RESOLVE_IN_ROOT, which Python does
not have. So the few functions by which Python asks for a path are replaced, in the children alone that gather facts
under --root: no fact, and no library that it uses (glob, os.walk, zipfile), can forget it. Only paths that begin with
the root are looked at. A child ends with its answer, so nothing is ever put back.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
from collections.abc import Callable, Iterator
from typing import Any, Self

from envdoctor.system.rooted import is_below, resolve

_stat, _lstat, _open, _readlink, _scandir = os.stat, os.lstat, os.open, os.readlink, os.scandir
_access, _realpath, _open_file = os.access, os.path.realpath, open
_entered: list[str] = []


def enter(root: str) -> None:
    """Replace them for the rest of this process; an empty root changes nothing. To be called in a forked child."""
    if not root or _entered:
        return
    _entered.append(root)
    view = View(root)
    for name in ("listdir", "statvfs"):
        setattr(os, name, view.following(getattr(os, name)))
    for name in ("access", "stat", "lstat", "open", "scandir", "readlink"):
        setattr(os, name, getattr(view, name))
    for module in (builtins, io):
        vars(module)["open"] = view.following(_open_file)
    vars(os.path)["realpath"] = view.realpath


class View:
    """The file system with one directory as a root of its own.

    The functions take what those of `os` take; paths that do not begin with the root, and descriptors, go on unchanged.
    """

    def __init__(self, root: str) -> None:
        self.root = root.rstrip("/")
        self._folders: dict[str, str] = {}
        """Directories that were resolved already: most paths of an environment share a few thousand."""

    def _inner(self, path: Any) -> str | None:  # noqa: ANN401 - whatever os functions take
        """Return the image's name for a path; None if it lies elsewhere."""
        if isinstance(path, int) or path is None:
            return None
        text = os.fsdecode(path)
        return (text[len(self.root) :] or "/") if is_below(self.root, text) else None

    def parent(self, path: Any) -> Any:  # noqa: ANN401
        """Follow the links that lead to a path, and not the one that it may be itself."""
        inner = self._inner(path)
        if inner is None:
            return path
        folder, _, name = inner.rpartition("/")
        if name in ("", ".", ".."):
            return self.root + resolve(self.root, inner)
        known = self._folders.get(folder)
        if known is None:
            known = self._folders[folder] = resolve(self.root, folder).rstrip("/")
        return f"{self.root}{known}/{name}"

    def real(self, path: Any) -> Any:  # noqa: ANN401
        """Follow all links. Raises OSError (ELOOP) where they lead round in a circle."""
        found = self.parent(path)
        if self._inner(path) is None or not _is_link(found):
            return found
        found = self.root + resolve(self.root, found[len(self.root) :])
        if _is_link(found):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        return found

    def following(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Give a function that follows links a path without any."""

        def followed(path: Any = ".", *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
            return function(self.real(path), *arguments, **options)

        return followed

    def access(self, path: Any, mode: int, **options: Any) -> bool:  # noqa: ANN401
        """As os.access."""
        try:
            return _access(self.real(path), mode, **options)
        except OSError:
            return False

    def stat(self, path: Any, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> os.stat_result:  # noqa: ANN401
        """As os.stat."""
        there = self.real(path) if follow_symlinks else self.parent(path)
        return _stat(there, dir_fd=dir_fd, follow_symlinks=follow_symlinks)

    def lstat(self, path: Any, *, dir_fd: int | None = None) -> os.stat_result:  # noqa: ANN401
        """As os.lstat."""
        return _lstat(self.parent(path), dir_fd=dir_fd)

    def open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:  # noqa: ANN401
        """As os.open."""
        there = self.parent(path) if flags & os.O_NOFOLLOW else self.real(path)
        return _open(there, flags, mode, dir_fd=dir_fd)

    def readlink(self, path: Any, *, dir_fd: int | None = None) -> Any:  # noqa: ANN401
        """As os.readlink: what the link says, as it stands."""
        return _readlink(self.parent(path), dir_fd=dir_fd)

    def realpath(self, path: Any, *, strict: bool = False) -> Any:  # noqa: ANN401
        """As os.path.realpath; below the root the root itself keeps its spelling."""
        inner = self._inner(path)
        if inner is None:
            return _realpath(path, strict=strict)
        found = self.root + resolve(self.root, inner).rstrip("/")
        if strict:
            _lstat(found)
        return found

    def scandir(self, path: Any = ".") -> Any:  # noqa: ANN401
        """As os.scandir: a context manager and iterator, whose entries follow links as this view does."""
        return _scandir(path) if self._inner(path) is None else _Entries(self, os.fsdecode(path))


def _is_link(path: Any) -> bool:  # noqa: ANN401
    try:
        _readlink(path)
    except (OSError, ValueError):  # ValueError: NUL in a path; whoever is given it will say so
        return False
    return True


class _Entries:
    """What scandir returns."""

    def __init__(self, view: View, path: str) -> None:
        self._view, self._path = view, path
        self._found = _scandir(view.real(path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[_Entry]:
        return self

    def __next__(self) -> _Entry:
        return _Entry(self._view, self._path, next(self._found))

    def close(self) -> None:
        """Give the descriptor back."""
        self._found.close()


class _Entry:
    """What os.DirEntry is, and does not let itself be made."""

    __slots__ = ("_entry", "_view", "name", "path")

    def __init__(self, view: View, folder: str, entry: os.DirEntry[str]) -> None:
        self._view, self._entry = view, entry
        self.name, self.path = entry.name, os.path.join(folder, entry.name)

    def __fspath__(self) -> str:
        return self.path

    def inode(self) -> int:
        return self._entry.inode()

    def is_symlink(self) -> bool:
        return self._entry.is_symlink()

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        if follow_symlinks and self._entry.is_symlink():
            return os.path.isdir(self.path)
        return self._entry.is_dir(follow_symlinks=False)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        if follow_symlinks and self._entry.is_symlink():
            return os.path.isfile(self.path)
        return self._entry.is_file(follow_symlinks=False)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        if follow_symlinks and self._entry.is_symlink():
            return self._view.stat(self.path)
        return self._entry.stat(follow_symlinks=False)
