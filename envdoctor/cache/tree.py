"""What of a cache is to be saved: one walk, as data."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from envdoctor.cache.trust import doubt_of
from envdoctor.errors import UsageError

LISTINGS = 5
"""Times that a directory is listed until it did not change meanwhile."""
TEMPORARY = re.compile(r"\.|tmp\.")
"""Names of what another writer has under way: `.<pid>.<tid>.tmp` of inductor, `tmp.pid_<pid>_<uuid>` of triton."""
LEFT_OUT = {"locks": "locks", "precompiled_headers": "precompiled headers"}
"""Directories at the top that are no entries: empty files to lock, and compilers' headers of 100 MB each."""
_KNOWN = re.compile(r"fxgraph|aotautograd|triton|dynamo|cache|[a-z2-7]{2}")
"""Directories at the top of an inductor cache."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One file as the walk saw it."""

    path: str
    """Relative to the cache."""
    size: int
    mode: int
    stamp: tuple[int, int, int]
    """mtime_ns, ctime_ns, inode."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of a cache."""

    files: tuple[Seen, ...]
    """Sorted by path."""
    left_out: Mapping[str, int]
    """Reason -> how many."""
    doubt: str | None = None
    """The first entry that somebody else may have written, and why."""


def seen(path: str, status: os.stat_result) -> Seen:
    """Take of a file's status what tells whether it changed."""
    stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    return Seen(path, status.st_size, stat.S_IMODE(status.st_mode), stamp)


def walk(root: str) -> Tree:
    """List what is to be saved. Raises UsageError if there is no such directory, OSError if it cannot be read."""
    if not os.path.isdir(root):
        what = "is not a directory" if os.path.lexists(root) else "is not there"
        raise UsageError(f"{root}: {what}, so there is no compile cache; --cache DIR names another")
    search = _Walk()
    files = sorted(search.below(root, ""), key=lambda item: item.path)
    return Tree(tuple(files), dict(search.left), search.doubt)


def is_cache(root: str) -> bool:
    """Tell whether a directory looks like one of inductor's, and not like somebody's home; an empty one does."""
    names = [name for name in os.listdir(root) if not TEMPORARY.match(name) and name not in LEFT_OUT]
    return not names or any(_KNOWN.fullmatch(name) for name in names)


class _Walk:
    """One walk, and what it leaves out."""

    def __init__(self) -> None:
        self.left: Counter[str] = Counter()
        self.doubt: str | None = None

    def below(self, folder: str, path: str) -> Iterator[Seen]:
        """Yield the files below a directory that is called `path` within the cache."""
        for entry in _listing(folder):
            name = f"{path}{entry.name}"
            if TEMPORARY.match(entry.name) or entry.name == "lock":
                self.left["temporary files and locks of writers"] += 1
            elif not path and entry.name in LEFT_OUT and entry.is_dir(follow_symlinks=False):
                self.left[LEFT_OUT[entry.name]] += 1
            else:
                try:
                    yield from self._entry(entry, name)
                except FileNotFoundError:
                    self.left["vanished meanwhile"] += 1

    def _entry(self, entry: os.DirEntry[str], name: str) -> Iterator[Seen]:
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode):
            self._trust(entry, status)
            yield from self.below(entry.path, f"{name}/")
        elif stat.S_ISREG(status.st_mode):
            self._trust(entry, status)
            yield seen(name, status)
        else:
            self.left["links and other special files"] += 1

    def _trust(self, entry: os.DirEntry[str], status: os.stat_result) -> None:
        suspect = status.st_mode & 0o022 or status.st_uid != os.geteuid()
        if suspect and self.doubt is None and (doubt := doubt_of(status, own=True)):
            self.doubt = f"{entry.path} {doubt}"


def _listing(folder: str) -> list[os.DirEntry[str]]:
    """List a directory at one moment: a kernel's group file must not show without the files that it names."""
    entries: list[os.DirEntry[str]] = []
    for _ in range(LISTINGS):
        before = os.stat(folder).st_mtime_ns
        with os.scandir(folder) as found:
            entries = list(found)
        if os.stat(folder).st_mtime_ns == before:
            break
    return entries
