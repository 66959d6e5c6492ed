"""The dynamic loader's rules, followed on paper: which file a name would resolve to. Nothing is loaded.

Rules: ld.so(8) ("DESCRIPTION") and _dl_map_object in elf/dl-load.c of glibc 2.36. A name with a slash is a path. Else,
in order: an object that is loaded already under that name or soname; DT_RPATH of the object that needs it, of the
object that brought that one, and so on up to the program, if the needing object has no DT_RUNPATH; LD_LIBRARY_PATH;
DT_RUNPATH of the needing object alone; ld.so.cache; the default directories. So DT_RPATH wins over LD_LIBRARY_PATH,
DT_RUNPATH does not. Subdirectories for processor features (glibc-hwcaps) are passed over.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from envdoctor.facts import elf, ld_cache
from envdoctor.facts.driver_files import LOADER_DIRECTORIES
from envdoctor.model import Unavailable
from envdoctor.system.host import Host
from envdoctor.system.rooted import joined

_VERSION = re.compile(r"\.so\.(\d+(?:\.\d+)+)$")
By = Literal["LD_PRELOAD", "RPATH", "LD_LIBRARY_PATH", "RUNPATH", "ld.so.cache", "directory", "torch"]


@dataclass(frozen=True, slots=True)
class Resolution:
    """What became of one name."""

    soname: str
    path: str | None
    """The file, as the loader would name it; None if it would find none."""
    by: By | None
    """The rule that found it; `torch` where torch/__init__.py loads it by its path beforehand."""
    needed_by: str
    """File name of the object that needs it first."""
    version: str | None = None
    """Version in the name of the file behind it, e.g. `9.1.0`; None if the name has none."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """An object in the simulated process."""

    path: str
    linkage: elf.Linkage
    opener: Loaded | None = None
    """What brought it; its DT_RPATH counts for what this one needs."""

    @property
    def folder(self) -> str:
        """What $ORIGIN means in it."""
        return os.path.dirname(self.path)


class Linker:
    """A process in which libraries are opened one after the other."""

    def __init__(self, host: Host, library_path: Sequence[str], program: str, follow: Callable[[str], bool]) -> None:
        self.host = host
        self.library_path = library_path
        """LD_LIBRARY_PATH's directories, where they are to be opened."""
        self.follow = follow
        """Tells the names that are of interest; what else is needed is not looked for."""
        self.loaded: dict[str, Loaded] = {}
        """By every name that an object answers to."""
        self.resolutions: dict[str, Resolution] = {}
        said = elf.linkage(program)
        self.program = Loaded(program, elf.Linkage() if isinstance(said, Unavailable) else said)
        self._cache: dict[str, list[str]] | None = None

    def open(self, path: str, opener: Loaded | None = None) -> Loaded | Unavailable:
        """Load a file by its path and, breadth first, everything of interest that it needs."""
        first = self._load(path, opener)
        if isinstance(first, Unavailable):
            return first
        pending = deque([first])
        while pending:
            item = pending.popleft()
            for name in item.linkage.needed:
                if self.follow(name) and name not in self.loaded and name not in self.resolutions:
                    found = self.need(name, item)
                    if found is not None:
                        pending.append(found)
        return first

    def need(self, name: str, opener: Loaded) -> Loaded | None:
        """Find and load what one object needs, and note what came of it."""
        path, by = next(iter(self.candidates(name, opener)), (None, None))
        self.resolutions[name] = Resolution(name, path, by, os.path.basename(opener.path), version_of(path))
        loaded = self._load(path, opener) if path is not None else None
        if loaded is None or isinstance(loaded, Unavailable):
            return None
        self.loaded.setdefault(name, loaded)
        return loaded

    def preload(self, path: str, by: By) -> Loaded | Unavailable:
        """Load a file by its path ahead of need."""
        known = self.loaded.get(os.path.basename(path))
        if known is not None:
            return known
        found = self.open(path)
        if not isinstance(found, Unavailable):
            name = found.linkage.soname or os.path.basename(path)
            self.resolutions.setdefault(name, Resolution(name, path, by, by, version_of(path)))
        return found

    def candidates(self, name: str, opener: Loaded | None = None) -> Iterator[tuple[str, By]]:
        """Yield the files that a name would resolve to, in the loader's order."""
        opener = opener or self.program
        for folder, by in self._folders(opener):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                yield path, by
        for path in self._cached(name):
            if os.path.isfile(self.host.at(path)):
                yield self.host.at(path), "ld.so.cache"
        for folder in LOADER_DIRECTORIES:
            path = self.host.at(os.path.join(folder, name))
            if os.path.isfile(path):
                yield path, "directory"

    def _folders(self, opener: Loaded) -> Iterator[tuple[str, By]]:
        if opener.linkage.runpath is None:
            above: Loaded | None = opener
            while above is not None:
                for folder in self._expanded(above.linkage.rpath, above.folder):
                    yield folder, "RPATH"
                above = above.opener
            if opener is not self.program:
                for folder in self._expanded(self.program.linkage.rpath, self.program.folder):
                    yield folder, "RPATH"
        for folder in self.library_path:
            yield folder, "LD_LIBRARY_PATH"
        for folder in self._expanded(opener.linkage.runpath, opener.folder):
            yield folder, "RUNPATH"

    def _expanded(self, path: str | None, origin: str) -> Iterator[str]:
        """Put in what $ORIGIN stands for; entries with $LIB or $PLATFORM are passed over."""
        for entry in (path or "").split(":"):
            whole = entry.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)
            if whole and "$" not in whole:
                there = self.host.at(os.path.normpath(entry))
                yield there if whole == entry else joined(self.host.root, origin, os.path.relpath(whole, origin))

    def _cached(self, name: str) -> list[str]:
        if self._cache is None:
            self._cache = {}
            for entry in ld_cache.read(self.host) or ():
                self._cache.setdefault(entry.name, []).append(entry.path)
        return self._cache.get(name, [])

    def _load(self, path: str, opener: Loaded | None) -> Loaded | Unavailable:
        said = elf.linkage(path)
        if isinstance(said, Unavailable):
            return said
        item = Loaded(path, said, opener)
        self.loaded.setdefault(os.path.basename(path), item)
        if said.soname:
            self.loaded.setdefault(said.soname, item)
        return item


def version_of(path: str | None) -> str | None:
    """Return the version in the name of the file behind a path: `9.1.0` of libcudnn.so.9.1.0; None if it has none."""
    match = _VERSION.search(os.path.realpath(path)) if path else None
    return match[1] if match else None


def by_folder(loaded: Mapping[str, Loaded]) -> Mapping[str, tuple[Loaded, ...]]:
    """Group loaded objects by the directory they lie in."""
    found: dict[str, list[Loaded]] = {}
    for item in dict.fromkeys(loaded.values()):
        found.setdefault(item.folder, []).append(item)
    return {folder: tuple(items) for folder, items in found.items()}
