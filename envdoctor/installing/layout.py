"""Where a venv keeps things, and everything that lies in it: one walk, links never followed."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from envdoctor.errors import StepError

OWN_TOP = frozenset({"pyvenv.cfg", ".gitignore", ".lock", "lib64"})
"""What the venv module and uv leave at the top."""
OWN_SCRIPTS = frozenset({"activate", "activate.csh", "activate.fish", "Activate.ps1", "activate.ps1"})
_PYTHON = re.compile(r"python(3(\.\d+t?)?)?|𝜋thon")
"""Names of the interpreter; the last is what Python 3.14 adds."""
DOCTORS = ".envdoctor"
"""Prefix of what envdoctor itself keeps at the top."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The directories of a venv, relative to its prefix."""

    prefix: str
    """Absolute and real."""
    site: str
    """`lib/python3.12/site-packages`, for pure and compiled code alike."""
    version: str
    """`3.12`."""

    @classmethod
    def of(cls, prefix: str) -> Layout:
        """Look at a venv. Raises StepError if it has not exactly one site-packages."""
        try:
            names = [name for name in os.listdir(os.path.join(prefix, "lib")) if re.fullmatch(r"python3\.\d+t?", name)]
        except OSError:
            names = []
        if len(names) != 1:
            raise StepError("verify", f"{prefix}/lib: has {len(names)} directories of a Python, not one")
        return cls(prefix, f"lib/{names[0]}/site-packages", names[0].removeprefix("python").rstrip("t"))

    def at(self, path: str) -> str:
        """Return the absolute path."""
        return os.path.join(self.prefix, path)

    def headers(self, name: str) -> str:
        """Return where a distribution's headers go (both installers, seen)."""
        return f"include/site/python{self.version}/{name}"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing in a venv that is no directory."""

    mode: int
    links: int
    size: int

    @property
    def fault(self) -> str:
        """Say what is wrong with it as a file of the venv's own; "" if nothing is."""
        if stat.S_ISLNK(self.mode):
            return "is a symbolic link"
        if not stat.S_ISREG(self.mode):
            return "is no regular file"
        return "shares its inode with a file elsewhere (hard link)" if self.links != 1 else ""


@dataclass(frozen=True, slots=True)
class Found:
    """Everything that lies in a venv, by path relative to its prefix."""

    entries: dict[str, Entry]
    folders: frozenset[str]


def walk(prefix: str) -> Found:
    """List a venv. Raises StepError if a directory cannot be read."""
    entries: dict[str, Entry] = {}
    folders: set[str] = set()
    pending = [""]
    try:
        while pending:
            folder = pending.pop()
            for path, entry in _scanned(prefix, folder):
                if entry is None:
                    folders.add(path)
                    pending.append(path)
                else:
                    entries[path] = entry
    except OSError as error:
        raise StepError("verify", f"{error.filename}: cannot be read: {error.strerror}") from error
    return Found(entries, frozenset(folders))


def _scanned(prefix: str, folder: str) -> Iterator[tuple[str, Entry | None]]:
    inside = f"{folder}/" if folder else ""
    with os.scandir(os.path.join(prefix, folder)) as found:
        for item in found:
            if item.is_dir(follow_symlinks=False):
                yield inside + item.name, None
            else:
                status = item.stat(follow_symlinks=False)
                yield inside + item.name, Entry(status.st_mode, status.st_nlink, status.st_size)


def is_own(path: str) -> bool:
    """Tell whether a path is the venv's own, or envdoctor's, whatever was installed."""
    folder, _, name = path.rpartition("/")
    if not folder:
        return name in OWN_TOP or name.startswith(DOCTORS)
    return is_own_script(path) or path.partition("/")[0].startswith(DOCTORS)


def is_own_script(path: str) -> bool:
    """Tell whether a path is an activation script or a name of the interpreter."""
    folder, _, name = path.rpartition("/")
    return folder == "bin" and (name in OWN_SCRIPTS or _PYTHON.fullmatch(name) is not None)
