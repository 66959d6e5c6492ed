"""Every compile cache that the job would use: where and why there, what it holds, for whom, and who may change it.

One walk of directory entries over all of them, bounded in time and number; contents are then sampled within a budget of
bytes. Nothing is unpickled, imported or run, and no link is followed out of a cache.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from envdoctor.facts import cache_users
from envdoctor.facts.cache_access import Access, look
from envdoctor.facts.cache_builds import Build, Lock, builds, locks, seen_locks
from envdoctor.facts.cache_cleaners import Cleaner, cleaners, of
from envdoctor.facts.cache_counts import GRAPHS, Count, counted
from envdoctor.facts.cache_entries import Damage, damaged
from envdoctor.facts.cache_makers import Maker, Said, of_graph, of_kernel, of_python, tally
from envdoctor.facts.cache_places import Place, places
from envdoctor.facts.cache_users import User
from envdoctor.facts.cache_walk import SHOWN, Key, Leftover, Walk, Walked
from envdoctor.facts.node import Mount, Node
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Target, Unavailable
from envdoctor.system.host import Host
from envdoctor.system.reading import head

FILES = 500_000
"""Directory entries that are looked at, in all caches together."""
SECONDS = 4.0
"""What the walk may take."""
CONTENTS = 128 << 20
"""Bytes of contents that are read to learn what entries were made for: graphs, then modules, then kernels."""
GRAPHS_SECONDS, OTHERS_SECONDS = 1.0, 0.2
"""What reading may take: where not every graph is read, nothing is known by device."""
ENTRY_LIMIT = 256 << 10
"""Bytes of one entry that are read: the source with its devices comes first, then the torch, last the binaries."""
DAMAGE_FILES = 20_000
DAMAGE_BYTES = 32 << 20
DAMAGE_SECONDS = 0.25
USERS_SECONDS = 0.5
READERS = {"fxgraph": of_graph, "aotautograd": of_graph, "triton": of_kernel, "py": of_python}
HOUR, DAY = 3600.0, 86400.0


@dataclass(frozen=True, slots=True)
class CompileCache:
    """One cache."""

    place: Place
    exists: bool = False
    problem: str | None = None
    """Why it cannot be read."""
    access: Access = field(default_factory=Access)
    mount: Mount | None = None
    cleaner: Cleaner | None = None
    """What removes old files from where it lies."""
    files: int = 0
    size: int = 0
    """Bytes."""
    newest: float | None = None
    """When the youngest file was written, seconds since the epoch."""
    keys: Mapping[str, int] = field(default_factory=dict)
    """Kind -> how many."""
    counts: tuple[Count, ...] = ()
    """What the sampled keys say; one for two devices counts for both."""
    makers: tuple[Maker, ...] = ()
    damage: Damage = field(default_factory=Damage)
    leftovers: tuple[Leftover, ...] = ()
    """Temporary files and directories whose writers are dead; the first ones."""
    leftovers_count: int = 0
    locks: tuple[Lock, ...] = ()
    builds: tuple[Build, ...] = ()
    users: tuple[User, ...] = ()
    foreign: int = 0
    """Entries that belong neither to this user nor to root."""
    first_foreign: str = ""
    open_to_all: int = 0
    first_open: str = ""
    complete: bool = True
    """False if the walk was cut short, so that counts are too low."""
    sampled: bool = True
    """False if not every graph could be read, so that counts by device are too low."""
    unread: int = 0
    """Keys and modules whose contents were left unread: the budget was spent."""

    @property
    def path(self) -> str:
        """Where it lies."""
        return self.place.path

    @property
    def kind(self) -> str:
        """Whose it is: `inductor`, `triton`, ..."""
        return self.place.kind

    @property
    def named(self) -> str:
        """What to call it in a sentence."""
        return f"the {self.kind.replace('_', ' ')} cache {self.path}"

    @property
    def always_used(self) -> bool:
        """True if a compile writes to it, wherever it is; the others are there only if something needs them."""
        return self.kind in ("inductor", "triton")


@dataclass(frozen=True, slots=True)
class CompileCaches:
    """All of them."""

    caches: tuple[CompileCache, ...] = ()
    uid: int | None = None
    """The user they were looked at as; None for files below --root, where nobody's rights count."""
    taken_at: float = 0.0
    """Seconds since the epoch."""

    def of(self, kind: str) -> CompileCache | None:
        """Return the cache of one kind."""
        return next((cache for cache in self.caches if cache.kind == kind), None)


def collect(
    target: Target,  # noqa: ARG001 - every collector has this shape
    host: Host,
    torch_build: TorchBuild,  # noqa: ARG001 - without torch nothing is compiled, and nothing is looked at
    node: Node | Unavailable,
) -> CompileCaches:
    """Look at every place. Below --root only files count: no rights, no mounts, no processes."""
    rules, spared = cleaners(host)
    uid = None if host.root else os.geteuid()
    walk = Walk(FILES, SECONDS, uid)
    budget = _Budget()
    now = host.now().timestamp()
    found = [_cache(place, host, walk, budget, now) for place in places(host)]
    there = [cache.path for cache in found if cache.exists]
    in_use = cache_users.users(there, seconds=USERS_SECONDS) if there and not host.root else ()
    whole = (
        replace(
            _lying(cache, host, node, (rules, spared)),
            users=cache_users.below(in_use, cache.path),
            locks=locks(cache.locks, in_use),
        )
        for cache in found
    )
    return CompileCaches(tuple(whole), uid, now)


def directories(host: Host, node: Node, found: Iterable[Place]) -> CompileCaches:
    """Return these places on the running machine as directories alone: no look at what lies in one.

    `files` is then the number of its own entries, and what depends on contents says nothing.
    """
    rules = cleaners(host)
    caches = (CompileCache(place, access=look(place.path, ask=True)) for place in found)
    seen = (replace(cache, exists=os.path.isdir(cache.path), files=_entries(cache.path)) for cache in caches)
    lying = tuple(_lying(cache, host, node, rules) for cache in seen)
    return CompileCaches(lying, os.geteuid(), host.now().timestamp())


def _entries(folder: str) -> int:
    try:
        return len(os.listdir(folder))
    except OSError:
        return 0


def _lying(
    cache: CompileCache, host: Host, node: Node | Unavailable, rules: tuple[tuple[Cleaner, ...], tuple[str, ...]]
) -> CompileCache:
    """Say on what file system it lies, and what removes old files from there."""
    real = _real(cache.path)
    mount = None if isinstance(node, Unavailable) else node.mount_of(real)
    return replace(cache, mount=mount, cleaner=of(real if not host.root else cache.path, *rules))


class _Budget:
    """What is left for reading contents, and for looking for damage."""

    def __init__(self) -> None:
        self.bytes, self.damage_seconds = CONTENTS, DAMAGE_SECONDS
        self.graph_seconds, self.other_seconds = GRAPHS_SECONDS, OTHERS_SECONDS

    def graphs(self, keys: Iterable[Key]) -> tuple[list[tuple[Key, Said]], bool]:
        """Read graphs as long as the budget lasts; tell whether all were read."""
        began = time.monotonic()
        said, whole = self._read(keys, began + self.graph_seconds)
        self.graph_seconds = max(0.0, self.graph_seconds - (time.monotonic() - began))
        return said, whole

    def others(self, keys: Iterable[Key]) -> list[tuple[Key, Said]]:
        """Read modules and kernels as long as theirs lasts."""
        began = time.monotonic()
        said, _ = self._read(keys, began + self.other_seconds)
        self.other_seconds = max(0.0, self.other_seconds - (time.monotonic() - began))
        return said

    def _read(self, keys: Iterable[Key], ends: float) -> tuple[list[tuple[Key, Said]], bool]:
        said, whole = [], True
        for key in keys:
            size = min(key.size, ENTRY_LIMIT)
            if size > self.bytes or time.monotonic() > ends:
                whole = False
                break
            self.bytes -= size
            said.append((key, READERS[key.kind](head(key.sample, ENTRY_LIMIT))))
        return said, whole

    def damage(self, folder: str) -> Damage:
        """Look for damage as long as the time lasts."""
        began = time.monotonic()
        found = damaged(folder, limit_files=DAMAGE_FILES, limit_bytes=DAMAGE_BYTES, deadline=self.damage_seconds)
        self.damage_seconds = max(0.0, self.damage_seconds - (time.monotonic() - began))
        return found


def _cache(place: Place, host: Host, walk: Walk, budget: _Budget, now: float) -> CompileCache:
    path = host.at(host.resolve(place.path)) if host.root else place.path
    access = Access() if host.root else look(path, ask=True)
    bare = CompileCache(place, access=access)
    if not os.path.isdir(path):
        problem = "is no directory" if os.path.lexists(path) and not os.path.islink(path) else None
        return replace(bare, problem=problem)
    try:
        os.scandir(path).close()
    except OSError as error:
        return replace(bare, exists=True, problem=error.strerror or str(error), complete=False, sampled=False)
    found = walk.through(path, place.kind)
    dead = _dead(found.leftovers, now, running=not host.root)
    return replace(
        _filled(bare, found, path, budget),
        leftovers=tuple(dead[:SHOWN]),
        leftovers_count=len(dead),
        locks=seen_locks(found.locks, now),
        builds=builds(found.ninjas),
    )


def _filled(bare: CompileCache, found: Walked, path: str, budget: _Budget) -> CompileCache:
    said, sampled = budget.graphs(key for key in found.keys if key.kind in GRAPHS)
    said += budget.others([*found.modules, *(key for key in found.keys if key.kind not in GRAPHS)])
    judged = bare.kind in ("inductor", "triton")
    return replace(
        bare,
        exists=True,
        files=found.files,
        size=found.size,
        newest=found.newest,
        keys=dict(Counter(key.kind for key in found.keys)),
        counts=counted(said),
        makers=tally(item for _, item in said),
        damage=budget.damage(path) if judged and found.files else Damage(),
        foreign=found.foreign,
        first_foreign=found.first_foreign,
        open_to_all=found.open_to_all,
        first_open=found.first_open,
        complete=found.complete,
        sampled=sampled,
        unread=len(found.keys) + len(found.modules) - len(said),
    )


def _dead(parts: Iterable[Leftover], now: float, *, running: bool) -> list[Leftover]:
    """Return the temporaries that nobody will finish.

    A number may be that of a process of another machine or container: it counts only once the file is an hour old.
    """
    return [
        part
        for part in parts
        if now - part.modified > DAY
        or (running and part.pid and now - part.modified > HOUR and not os.path.exists(f"/proc/{part.pid}"))
    ]


def _real(path: str) -> str:
    return os.path.realpath(path)
