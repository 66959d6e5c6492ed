"""Damaged entries of a compile cache of torch and Triton, found by looking: nothing is unpickled, imported or run.

Judged are the places whose layout is known (torch 2.9 to 2.15, Triton 3.5 to 3.9), each by what its names say:

<2 characters>/*.py *.cpp *.so *.cubin *.best_config   what inductor generated and built
fxgraph/, aotautograd/                                 pickled graphs
<key in base 32>/                                      a kernel of Triton: name.json, name.cubin, __grp__name.json, *.so

An entry that another process is building at this moment may look cut off. A path that `__grp__` names may lie on a
mount that does not answer: as with every look at somebody else's files, call this in a child that can be given up.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from envdoctor.facts.cache_faults import (
    CONSEQUENCES,
    ELF_LIMIT,
    HARMLESS,
    JSON_LIMIT,
    PYTHON_LIMIT,
    Fault,
    Kind,
    Role,
    faults,
)

__all__ = ["Damage", "Damaged", "Kind", "damaged"]

Place = Literal["graph", "kernel", "generated", "other"]
ROLES: dict[Place, tuple[Role, ...]] = {
    "generated": (".py", ".cpp", ".so", ".cubin", ".best_config"),
    "kernel": (".so", ".cubin", ".json"),
}
"""Suffixes that are judged in a place."""
DEPTH = 16
"""Directories below each other that are looked into; the deepest entry of a real cache lies in the fourth."""
GENERATED = re.compile(r"[a-z2-7]{2}")
"""Directories of what inductor generates: the beginning of a hash in base 32."""
KERNEL = re.compile(r"[A-Z2-7]{52}|[0-9a-f]{64}")
"""The key of a kernel: a sha256 in base 32 without padding; Triton 2 wrote it in hexadecimal."""
_NOT_ENTRIES = ("locks", "precompiled_headers")


@dataclass(frozen=True, slots=True)
class Damaged:
    """One entry that is damaged."""

    path: str
    """Absolute if the folder was."""
    kind: Kind
    what: str
    """What is wrong with it, a phrase that follows its name: `is empty`."""
    consequence: str
    """What torch or Triton does when it meets it."""
    remove: str
    """What to remove to heal it: the file, or the whole directory of a kernel."""

    @property
    def harmless(self) -> bool:
        """True if no run fails by it."""
        return self.consequence in HARMLESS


@dataclass(frozen=True, slots=True)
class Damage:
    """What was found in one cache."""

    entries: tuple[Damaged, ...] = ()
    """Sorted by path."""
    checked: int = 0
    """Files that were looked at."""
    complete: bool = True
    """False if a limit cut the search short, or something could not be read."""


def damaged(folder: str, *, limit_files: int, limit_bytes: int, deadline: float) -> Damage:
    """Look through a cache directory for at most so many files, bytes to be read, and `deadline` seconds.

    Symbolic links below it are not followed. A folder that is not there has no entries.
    """
    search = _Search(limit_files, limit_bytes, time.monotonic() + deadline)
    found = sorted(search.walk(folder), key=lambda item: (item.path, item.kind))
    return Damage(tuple(found), search.checked, search.complete)


class _Search:
    """One walk through one cache, with what is left of its limits."""

    def __init__(self, files: int, size: int, ends: float) -> None:
        self.files, self.bytes, self.ends = files, size, ends
        self.checked = 0
        self.complete = True

    def walk(self, root: str) -> Iterator[Damaged]:
        """Yield what is damaged, directory by directory."""
        pending: list[tuple[str, tuple[str, ...]]] = [(root, ())]
        while pending and not self._is_over():
            folder, parts = pending.pop()
            place = _place(parts or (os.path.basename(root),), below=bool(parts))
            files, folders = self._listing(folder)
            if folders and len(parts) >= DEPTH:
                self.complete, folders = False, []
            pending += [(os.path.join(folder, name), (*parts, name)) for name in folders]
            yield from self._files(files if place != "other" else (), folder, place)

    def _listing(self, folder: str) -> tuple[list[os.DirEntry[str]], list[str]]:
        """Return a directory's files, and the names of the directories in it."""
        files: list[os.DirEntry[str]] = []
        folders: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in self._entries(entries):
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name)
                    elif entry.is_file(follow_symlinks=False):
                        files.append(entry)
        except (FileNotFoundError, NotADirectoryError):
            return [], []
        except OSError:
            self.complete = False
        return files, folders

    def _entries(self, entries: Iterable[os.DirEntry[str]]) -> Iterator[os.DirEntry[str]]:
        """Pass over what is no entry: other writers' temporary files, locks, headers."""
        for entry in entries:
            if self._is_over():
                return
            if not entry.name.startswith((".", "tmp.")) and entry.name not in _NOT_ENTRIES:
                yield entry

    def _files(self, files: Iterable[os.DirEntry[str]], folder: str, place: Place) -> Iterator[Damaged]:
        """Judge the files of one directory, sources last: they matter where nothing good is built from them."""
        known = [(entry, role) for entry in files if (role := _role(entry.name, place)) is not None]
        bad: set[str] = set()
        for entry, role in sorted(known, key=lambda item: item[1] == ".cpp"):
            if self._is_over():
                return
            self.files -= 1
            self.checked += 1
            library = f"{entry.path.removesuffix('.cpp')}.so"
            if role == ".cpp" and library not in bad and os.path.lexists(library):
                continue
            for kind, what in self._faults(entry, role):
                bad.add(entry.path)
                remove = folder if place == "kernel" else entry.path
                yield Damaged(entry.path, kind, what, CONSEQUENCES[role, kind], remove)

    def _faults(self, entry: os.DirEntry[str], role: Role) -> Iterator[Fault]:
        """Yield what is wrong with one file. One that vanishes meanwhile is no fault."""
        try:
            size = entry.stat(follow_symlinks=False).st_size
            if size == 0:
                yield "empty", "is empty"
            elif role not in (".cpp", "graph") and self._may_read(size, role):
                yield from faults(entry.path, role)
        except FileNotFoundError:
            return
        except (OSError, ValueError):
            self.complete = False

    def _may_read(self, size: int, role: Role) -> bool:
        """Take bytes off what is left; False, and the search is not complete, if they are too many."""
        is_elf = role in (".so", ".cubin")
        limit = PYTHON_LIMIT if role == ".py" else JSON_LIMIT
        size = min(size, ELF_LIMIT) if is_elf else size
        if size > self.bytes or (size > limit and not is_elf):
            self.complete = False
            return False
        self.bytes -= size
        return True

    def _is_over(self) -> bool:
        if self.files > 0 and time.monotonic() < self.ends:
            return False
        self.complete = False
        return True


def _place(parts: tuple[str, ...], *, below: bool) -> Place:
    """Tell what the files of a directory are, by its own name and by where it lies below the cache's directory."""
    if KERNEL.fullmatch(parts[-1]):
        return "kernel"
    if below and parts[0] in ("fxgraph", "aotautograd"):
        return "graph"
    return "generated" if below and len(parts) == 1 and GENERATED.fullmatch(parts[0]) else "other"


def _role(name: str, place: Place) -> Role | None:
    """Tell as what a file is judged; None if it is not."""
    if place == "graph":
        return "graph"
    if place == "kernel" and name.startswith("__grp__") and name.endswith(".json"):
        return "__grp__"
    return next((role for role in ROLES.get(place, ()) if name.endswith(role)), None)
