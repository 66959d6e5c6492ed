"""`envdoctor cache prune`: take damaged and stale entries out of a cache, one by one, into a quarantine beside it."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from envdoctor.cache import job, place, store
from envdoctor.cache.manifest import Made
from envdoctor.cache.staleness import Stale, find
from envdoctor.cache.users import refuse_in_use
from envdoctor.cache.workflow import failures_told, refuse_strangers
from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.facts.cache_entries import Damaged, damaged
from envdoctor.locate import Wish
from envdoctor.system.host import Host

LIMIT_FILES, LIMIT_BYTES, LIMIT_SECONDS = 2_000_000, 64 << 30, 600.0
"""How much of a cache is searched."""
ABANDONED = 3600.0
"""Seconds after which what a dead writer had under way is taken for abandoned."""
AT_REST = 60.0
"""Seconds that an entry must have been left alone: one that is just being built looks damaged."""
LOOK_AGAIN = 1.0
"""Seconds after which it is looked again whether somebody uses the cache."""
PARTIAL = re.compile(r"\.(?P<file>\d+)\.\d+\.tmp|tmp\.(?:pid_(?P<folder>\d+)_)?.+")
"""What a writer has under way: inductor's write_atomic (.PID.TID.tmp), triton's cache manager (tmp.pid_PID_UUID)."""


@dataclass(frozen=True, slots=True)
class Removal:
    """One thing to take out."""

    path: str
    """A file, or the directory of a kernel."""
    kind: str
    why: str
    """A phrase that follows the path of what is damaged."""
    damaged: str
    """The file that is damaged, at or below the path."""
    consequence: str
    """What torch or triton does when it meets it."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was found, and what was done about it."""

    cache: str
    removals: tuple[Removal, ...]
    young: tuple[str, ...]
    """Damaged, but written to within the last minute: left alone."""
    complete: bool
    """False if part of the cache could not be looked at."""
    quarantine: str | None = None
    """Where it went; None if nothing was to be removed, or only listed."""
    sought: str = "damaged or abandoned"


def prune(host: Host, *, cache: str | None, act: bool, stale_for: Wish | None = None) -> Pruned:
    """Find what is damaged or abandoned, or of another build than an environment's, and with `act` take it out.

    Raises UsageError if there is no cache, if it may be somebody else's or is in use, EnvDoctorError if it cannot be
    done; what has been taken out by then lies in the quarantine.
    """
    made = job.read(job.find(stale_for, host), host).made if stale_for else None
    with failures_told():
        root = place.inductor(host, cache).path
        if not os.path.isdir(root):
            raise UsageError(f"{root}: there is no compile cache; --cache DIR names another")
        refuse_strangers(root)
        if act:
            refuse_in_use(root, "prune")
        found = plan(root, time.time(), made)
        if not (act and found.removals):
            return found
        stamp = host.now().strftime("%Y%m%dT%H%M%S%fZ")
        quarantine = os.path.join(f"{root}.envdoctor-quarantine", stamp)
        _perform(found, quarantine)
        return replace(found, quarantine=quarantine)


def plan(root: str, now: float, made: Made | None = None) -> Pruned:
    """Say what is to be taken out, with `made` what others made as well; touches nothing."""
    search = damaged(root, limit_files=LIMIT_FILES, limit_bytes=LIMIT_BYTES, deadline=LIMIT_SECONDS)
    removals, young = dict[str, Removal](), []
    for item in search.entries:
        if _age(item, now) < AT_REST:
            young.append(item.path)
        else:
            removals.setdefault(item.remove, Removal(item.remove, item.kind, item.what, item.path, item.consequence))
    for path in _abandoned(root, now):
        why = "was begun by a process that is gone"
        removals.setdefault(path, Removal(path, "partial", why, path, "it takes room"))
    stale = Stale((), complete=True) if made is None else find(root, made)
    for path, why in stale.keys:
        removals.setdefault(path, Removal(path, "stale", why, path, "no run of this environment finds it"))
    whole = search.complete and stale.complete
    sought = "damaged or abandoned" if made is None else "damaged, abandoned or stale"
    return Pruned(root, tuple(removals[path] for path in sorted(removals)), tuple(young), whole, sought=sought)


def _age(item: Damaged, now: float) -> float:
    """Return how long ago something was last written there."""
    with contextlib.suppress(FileNotFoundError):
        return now - max(os.lstat(path).st_mtime for path in {item.path, item.remove})
    return 0.0


def _abandoned(root: str, now: float) -> Iterator[str]:
    """Yield what dead writers had under way, directories of them included."""
    for parent, folders, names in os.walk(root):
        for name in [*folders, *names]:
            found, path = PARTIAL.fullmatch(name), os.path.join(parent, name)
            if found and _newest(path) < now - ABANDONED and not _alive(found["file"] or found["folder"]):
                yield path
        folders[:] = [name for name in folders if not PARTIAL.fullmatch(name)]


def _newest(path: str) -> float:
    """Return when something was last written at or below a path; the end of time if that cannot be told."""
    times = [path, *(os.path.join(parent, name) for parent, _, names in os.walk(path) for name in names)]
    try:
        return max(os.lstat(each).st_mtime for each in times)
    except OSError:
        return float("inf")


def _alive(pid: str | None) -> bool:
    return pid is not None and os.path.exists(f"/proc/{int(pid)}")


def _perform(found: Pruned, quarantine: str) -> None:
    """Rename one entry after the other; what is gone by then is gone."""
    looked = time.monotonic()
    for removal in found.removals:
        if time.monotonic() - looked > LOOK_AGAIN:
            refuse_in_use(found.cache, "prune")
            looked = time.monotonic()
        where = os.path.join(quarantine, os.path.relpath(removal.path, found.cache))
        store.make_private(os.path.dirname(where))
        try:
            os.rename(removal.path, where)
        except FileNotFoundError:
            continue
        except OSError as error:
            hint = " (the cache is a file system of its own)" if error.errno == errno.EXDEV else ""
            raise EnvDoctorError(f"{removal.path}: cannot be moved to {where}: {error.strerror}{hint}") from error
