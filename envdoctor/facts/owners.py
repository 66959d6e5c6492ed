"""Who owns what lies in site-packages: paths with two owners, files with none, remains of failed uninstalls."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from envdoctor.codec import from_json
from envdoctor.facts import records, stat_index
from envdoctor.facts.metadata import normalised
from envdoctor.facts.search_path import SearchPath
from envdoctor.model import Target, Unavailable
from envdoctor.seals import Seal
from envdoctor.system.host import Host

SHOWN = 50
HASH_BUDGET = 1 << 30
"""Bytes of colliding files that a plain check hashes at most."""
COLLISIONS_LOOKED_AT = 500
"""Colliding files whose bytes are compared with their owners' records."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One distribution's claim to a path."""

    name: str
    """Normalised."""
    version: str
    digest: str
    installed_at: float
    """When its RECORD was written."""


@dataclass(frozen=True, slots=True)
class Collision:
    """A path that two distributions say is theirs, with different bytes."""

    path: str
    """Relative to site-packages."""
    claims: tuple[Claim, ...]
    on_disk: str | None
    """Name of the owner whose bytes are there; None if nobody's, or if the file is gone."""
    exists: bool = True
    compared: bool = True
    """False if the file was too large to be hashed in a plain check."""


@dataclass(frozen=True, slots=True)
class Shared:
    """Distributions that list the same files, with whatever bytes: an uninstall of one takes them from all."""

    owners: Mapping[str, str]
    """Normalised name -> version."""
    count: int
    """Files."""


@dataclass(frozen=True, slots=True)
class Unowned:
    """Something that no RECORD lists."""

    path: str
    """Absolute: a top-level module or package, or a directory inside an owned package."""
    owner: str | None
    """Distribution whose package it lies in; None at the top level."""
    count: int
    """Files."""
    examples: tuple[str, ...] = ()
    """Relative to site-packages."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """What pip renamed aside (`~orch`) and could not remove."""

    path: str
    size: int
    """Bytes."""


@dataclass(frozen=True, slots=True)
class Owners:
    """The environment's own site-packages, path by path."""

    collisions: tuple[Collision, ...]
    unowned: tuple[Unowned, ...]
    leftovers: tuple[Leftover, ...]
    top_level: Mapping[str, str] = field(default_factory=dict)
    """Absolute path of each file directly in site-packages -> distribution that owns it."""
    shared: tuple[Shared, ...] = ()


def collect(target: Target, host: Host, search_path: SearchPath, seal: Seal | Unavailable) -> Owners:  # noqa: ARG001
    """Join all RECORDs of each site-packages directory and walk it once, unless a seal shows that nothing changed."""
    sealed = stat_index.owners(target.prefix, seal) if isinstance(seal, Seal) else None
    if sealed is not None:
        with contextlib.suppress(ValueError):  # a damaged index: as without one
            owners: Owners = from_json(Owners, sealed)
            return owners
    collisions: list[Collision] = []
    unowned: list[Unowned] = []
    leftovers: list[Leftover] = []
    top_level: dict[str, str] = {}
    shared: list[Shared] = []
    for site in search_path.site_dirs():
        claims = Claims(site)
        collisions += claims.collisions()
        shared += claims.shared()
        unowned += claims.unowned()
        leftovers += [Leftover(os.path.join(site, name), _size(os.path.join(site, name))) for name in claims.leftovers]
        top_level |= {os.path.join(site, path): claims.owner(path) for path in claims.owners if "/" not in path}
    return Owners(tuple(collisions), tuple(unowned), tuple(leftovers), top_level, tuple(shared))


class Claims:
    """All claims to the paths of one site-packages directory."""

    def __init__(self, site: str) -> None:
        self.site = site
        try:
            self.names = sorted(os.listdir(site))
        except OSError:
            self.names = []
        self.leftovers = [name for name in self.names if name.startswith("~")]
        self.infos = [name for name in self.names if name.endswith(".dist-info") and not name.startswith("~")]
        self.owners: dict[str, int] = {}
        """Path -> position in `infos` of the first distribution that lists it."""
        self.doubles: dict[str, list[tuple[int, str, str]]] = {}
        """Path with several owners -> (position, digest, size) of each."""
        self.budget = HASH_BUDGET
        self.unrecorded: list[str] = []
        """Stems of the distributions without a RECORD, egg-infos included."""
        for position, info in enumerate(self.infos):
            self._read(position, info)
        self.unrecorded += [name for name in self.names if name.endswith((".egg-info", ".egg-link", ".egg"))]
        self.unrecorded_names = frozenset(name for info in self.unrecorded for name in self._claimed(info))

    def _read(self, position: int, info: str) -> None:
        record = os.path.join(self.site, info, "RECORD")
        if not os.path.isfile(record):
            self.unrecorded.append(info)
            return
        try:
            rows = records.read(record)
        except (OSError, ValueError):
            self.unrecorded.append(info)
            return
        owners = self.owners
        for path, digest, size in rows:
            if path.endswith(".pyc") or path.startswith(("../", "/")) or not path:
                continue
            first = owners.setdefault(path, position)
            if first != position:
                self.doubles.setdefault(path, [(first, "", "")]).append((position, digest, size))

    def owner(self, path: str) -> str:
        """Return the normalised name of the distribution that lists a path."""
        return self._named(self.owners[path])[0]

    def _named(self, position: int) -> tuple[str, str]:
        project, _, version = self.infos[position][: -len(".dist-info")].rpartition("-")
        return normalised(project), version

    def collisions(self) -> Iterable[Collision]:
        """Yield the paths that two distributions claim with different digests."""
        firsts = self._first_rows()
        for path, rest in list(self.doubles.items())[:COLLISIONS_LOOKED_AT]:
            rows = [(rest[0][0], *firsts.get(path, ("", ""))), *rest[1:]]
            if (
                len({self._named(position)[0] for position, _, _ in rows}) > 1
                and len({digest for _, digest, _ in rows if digest}) > 1
            ):
                yield self._collision(path, rows)

    def shared(self) -> Iterable[Shared]:
        """Yield each set of distributions that list the same files."""
        sets = Counter(
            frozenset([rest[0][0], *(position for position, _, _ in rest[1:])]) for rest in self.doubles.values()
        )
        for positions, count in sets.items():
            owners = dict(sorted(map(self._named, positions)))
            if len(owners) > 1:
                yield Shared(owners, count)

    def _first_rows(self) -> dict[str, tuple[str, str]]:
        """Read again the RECORDs of first owners: digests of undisputed paths are not kept in memory."""
        found: dict[str, tuple[str, str]] = {}
        for position in {rest[0][0] for rest in self.doubles.values()}:
            rows = records.read(os.path.join(self.site, self.infos[position], "RECORD"))
            found |= {path: (digest, size) for path, digest, size in rows if self.owners.get(path) == position}
        return found

    def _collision(self, path: str, rows: Sequence[tuple[int, str, str]]) -> Collision:
        whole = os.path.join(self.site, path)
        exists = os.path.isfile(whole)
        size = str(os.path.getsize(whole)) if exists else ""
        fitting = [row for row in rows if exists and row[2] in ("", size)]
        compared = not fitting or int(size) <= self.budget
        self.budget -= int(size) if fitting and compared else 0
        fitting = fitting if compared else []
        winner = next((row for row in fitting if row[1] and records.matches(whole, row[1])), None)
        claims = tuple(self._claim(position, digest) for position, digest, _ in rows)
        return Collision(path, claims, self._named(winner[0])[0] if winner else None, exists, compared)

    def _claim(self, position: int, digest: str) -> Claim:
        name, version = self._named(position)
        return Claim(name, version, digest, os.path.getmtime(os.path.join(self.site, self.infos[position], "RECORD")))

    def unowned(self) -> Iterable[Unowned]:
        """Yield what nobody owns: at the top level one by one, inside packages one entry a distribution."""
        tops = {path.partition("/")[0] for path in self.owners if "/" in path}
        inside: list[str] = []
        for name in self.names:
            if self._is_bookkeeping(name) or name in self.owners:
                continue
            path = os.path.join(self.site, name)
            linked = os.path.islink(path)  # what a link leads to lies elsewhere and may be as large as the disk
            strays = list(self._strays(path, name)) if os.path.isdir(path) and not linked else [name]
            if name in tops:
                inside += strays if not (linked and os.path.isdir(path)) else []
            elif strays:
                yield Unowned(path, None, len(strays), tuple(strays[:SHOWN]))
        yield from self._inside_packages(inside)

    def _inside_packages(self, strays: Sequence[str]) -> Iterable[Unowned]:
        """Give each stray file to the distribution that owns its directory, and report one entry a distribution."""
        folders = self._folders() if strays else {}
        by_owner: dict[str, list[str]] = {}
        for stray in strays:
            by_owner.setdefault(self._nearest(stray, folders), []).append(stray)
        for owner, paths in sorted(by_owner.items()):
            common = os.path.commonpath([os.path.dirname(path) for path in paths])
            yield Unowned(os.path.join(self.site, common), owner, len(paths), tuple(paths[:SHOWN]))

    def _folders(self) -> dict[str, int]:
        """Return every directory that holds an owned file, with the owner of most of the files directly in it."""
        votes: dict[str, Counter[int]] = {}
        for path, position in self.owners.items():
            folder = path.rpartition("/")[0]
            votes.setdefault(folder, Counter())[position] += 1
        folders = {folder: counter.most_common(1)[0][0] for folder, counter in votes.items()}
        for folder, position in list(folders.items()):
            above = folder.rpartition("/")[0]
            while above and above not in folders:
                folders[above] = position
                above = above.rpartition("/")[0]
        return folders

    def _nearest(self, path: str, folders: Mapping[str, int]) -> str:
        folder = path
        while folder not in folders:
            folder = folder.rpartition("/")[0]
        return self._named(folders[folder])[0]

    def _is_bookkeeping(self, name: str) -> bool:
        """Tell what is judged elsewhere or belongs to tools: metadata, byte code, .pth files, start-up modules."""
        if name in ("__pycache__", "sitecustomize.py", "usercustomize.py", "_virtualenv.py", "README.txt"):
            return True
        if name.startswith("~") or name.endswith((".dist-info", ".egg-info", ".egg-link", ".pth", ".egg")):
            return True
        return name.partition(".")[0].lower() in self.unrecorded_names

    def _claimed(self, info: str) -> list[str]:
        """Guess which top-level names a distribution without RECORD owns: by top_level.txt, else by its own name."""
        listed = os.path.join(self.site, info, "top_level.txt")
        names: list[str] = []
        with contextlib.suppress(OSError):
            if os.path.isfile(listed):
                with open(listed, encoding="utf-8", errors="replace") as stream:
                    names = stream.read(1 << 16).lower().split()
        return names or [normalised(info.partition("-")[0].partition(".")[0]).replace("-", "_")]

    def _strays(self, folder: str, relative: str) -> Iterable[str]:
        """Yield the files below a directory that no RECORD lists; links to directories are not followed."""
        pending = [(folder, relative)]
        owners = self.owners
        while pending:
            folder, relative = pending.pop()
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        name = entry.name
                        inner = f"{relative}/{name}"
                        if inner in owners or name.endswith(".pyc"):
                            continue
                        if entry.is_dir(follow_symlinks=False):
                            if name != "__pycache__":
                                pending.append((entry.path, inner))
                        else:
                            yield inner
            except OSError:
                yield f"{relative}/"


def _size(path: str) -> int:
    """Sum the bytes below a path; links count as nothing."""
    if not os.path.isdir(path) or os.path.islink(path):
        return os.lstat(path).st_size
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue
    return total
