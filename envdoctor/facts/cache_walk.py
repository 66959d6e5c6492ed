"""One walk through a compile cache: how much there is, which keys, and what a dead writer left behind.

Directories are listed and files are looked at, never opened; links are not followed. Layouts: those of torch 2.9 to
2.15 and triton 3.5 to 3.9, as in `cache_entries`; of other caches only sizes are taken.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from envdoctor.facts.cache_entries import DEPTH, GENERATED, KERNEL

SHOWN = 50
"""Paths of one sort that are kept."""
_PART = re.compile(r"\.(\d+)\.\d+\.tmp|tmp\.pid_(\d+)_[\w-]+|tmp\.[0-9a-f]{8}-[\w-]+")
"""Temporary names of inductor (codecache.py of torch 2.13.0) and triton (runtime/cache.py of 3.6.0)."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a cache: what a lookup finds or does not find."""

    kind: str
    """`aotautograd`, `fxgraph` or `triton`."""
    sample: str
    """A file in which it says what it was made for."""
    size: int


@dataclass(frozen=True, slots=True)
class Leftover:
    """A temporary file or directory of a writer."""

    path: str
    pid: int | None
    """Its writer, as its name says."""
    modified: float


@dataclass(slots=True)
class Walked:
    """What a walk found."""

    files: int = 0
    size: int = 0
    """Bytes, as files say of themselves."""
    newest: float | None = None
    keys: list[Key] = field(default_factory=list)
    modules: list[Key] = field(default_factory=list)
    """Generated .py files."""
    leftovers: list[Leftover] = field(default_factory=list)
    locks: list[str] = field(default_factory=list)
    """Files called `lock` in the build directories of torch's extensions."""
    ninjas: list[str] = field(default_factory=list)
    """Files called `build.ninja`."""
    foreign: int = 0
    """Entries that belong neither to us nor to root."""
    first_foreign: str = ""
    open_to_all: int = 0
    """Directories and files that everybody may write."""
    first_open: str = ""
    links: int = 0
    """Links, none of which was followed."""
    complete: bool = True


class Walk:
    """A walk with what is left of its limits; several caches share them."""

    def __init__(self, files: int, seconds: float, uid: int | None) -> None:
        self.files, self.ends, self.uid = files, time.monotonic() + seconds, uid
        self.trusted = frozenset({0, uid})

    def through(self, root: str, kind: str) -> Walked:
        """Walk through one cache of this kind."""
        found = Walked()
        pending: list[tuple[str, tuple[str, ...]]] = [(root, ())]
        while pending:
            if self.files <= 0 or time.monotonic() > self.ends:
                found.complete = False
                break
            folder, parts = pending.pop()
            names: list[tuple[str, int]] = []
            for name in self._folder(folder, names, found, kind):
                if len(parts) < DEPTH:
                    pending.append((f"{folder}/{name}", (*parts, name)))
                else:
                    found.complete = False
            _sort(kind, folder, parts, names, found)
        return found

    def _folder(self, folder: str, names: list[tuple[str, int]], found: Walked, kind: str) -> Iterator[str]:
        """Take in the files of one directory, and yield the names of those below it."""
        newest = found.newest or 0.0
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    self.files -= 1
                    if stat.S_ISLNK(status.st_mode):
                        found.links += 1
                        continue
                    if status.st_mode & stat.S_IWOTH or status.st_uid not in self.trusted:
                        self._access(entry.path, status, found)
                    if entry.name[0] in ".t" and _is_part(entry.name, kind):
                        found.leftovers.append(_leftover(entry, status.st_mtime))
                    if stat.S_ISDIR(status.st_mode):
                        yield entry.name
                    elif stat.S_ISREG(status.st_mode):
                        names.append((entry.name, status.st_size))
                        newest = max(newest, status.st_mtime)
        except FileNotFoundError:
            pass
        except OSError:
            found.complete = False
        found.newest = newest or None
        found.files += len(names)
        found.size += sum(size for _, size in names)

    def _access(self, path: str, status: os.stat_result, found: Walked) -> None:
        if self.uid is None:
            return
        if status.st_uid not in self.trusted:
            found.foreign += 1
            found.first_foreign = found.first_foreign or path
        if status.st_mode & stat.S_IWOTH:
            found.open_to_all += 1
            found.first_open = found.first_open or path


def _is_part(name: str, kind: str) -> bool:
    return kind in ("inductor", "triton") and _PART.fullmatch(name) is not None


def _leftover(entry: os.DirEntry[str], modified: float) -> Leftover:
    match = _PART.fullmatch(entry.name)
    pid = next((int(number) for number in (match.groups() if match else ()) if number), None)
    return Leftover(entry.path, pid, modified)


def _sort(kind: str, folder: str, parts: tuple[str, ...], names: list[tuple[str, int]], found: Walked) -> None:
    """Tell what a directory's files are, by where it lies."""
    if kind == "torch_extensions" or kind == "flashinfer":
        found.ninjas += [f"{folder}/{name}" for name, _ in names if name == "build.ninja"]
    if kind == "torch_extensions" and any(name == "lock" for name, _ in names):
        found.locks.append(f"{folder}/lock")
    if kind not in ("inductor", "triton") or not parts:
        return
    if KERNEL.fullmatch(parts[-1]):
        own = [item for item in names if item[0].endswith(".json") and not item[0].startswith(("__grp__", "."))]
        found.keys += [Key("triton", f"{folder}/{name}", size) for name, size in own[:1]]
    elif kind == "inductor" and len(parts) == {"fxgraph": 3, "aotautograd": 2}.get(parts[0]):
        own = [item for item in names if not item[0].startswith(".") and item[1]]
        found.keys += [Key(parts[0], f"{folder}/{name}", size) for name, size in own[:1]]
    elif kind == "inductor" and len(parts) == 1 and GENERATED.fullmatch(parts[0]):
        found.modules += [Key("py", f"{folder}/{name}", size) for name, size in names if name.endswith(".py")]
