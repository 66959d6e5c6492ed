"""`envdoctor cache save`, `list` and `verify`."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from envdoctor import __version__
from envdoctor.cache import job, place, store, trust
from envdoctor.cache.manifest import Manifest
from envdoctor.cache.saving import Body, Work, manifest_of, put, unchanged
from envdoctor.cache.tree import Tree, is_cache, walk
from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.locate import Wish
from envdoctor.printable import moment_of
from envdoctor.system.descendants import uninterrupted
from envdoctor.system.host import Host


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller of `save` wants."""

    output: str | None = None
    """A file; None for the store."""
    cache: str | None = None
    """A directory; None for the one that the job would use."""
    keep: int | None = None
    """How many saves of this cache to keep; None for all."""
    force: bool = False


@dataclass(frozen=True, slots=True)
class Saved:
    """What came of a save."""

    path: str
    """The file, or the one that holds the same already."""
    manifest: Manifest
    size: int
    """Bytes of the file."""
    written: bool
    removed: tuple[str, ...] = ()
    """Older saves that had to go."""


def save(wish: Wish, asked: Asked, host: Host) -> Saved:
    """Save the cache that the job would use.

    Raises UsageError if there is none or it may hold somebody else's code, EnvDoctorError if it cannot be done.
    """
    target = job.find(wish, host)
    made = replace(job.read(target, host).made, archs=())
    with failures_told():
        root = place.inductor(host, asked.cache).path
        tree = walk(root)
        if not asked.force:
            refuse_strangers(root, tree)
        now = host.now()
        draft = Manifest(moment_of(now.timestamp()) or "", __version__, host.name, root, target.prefix, made, ())
        folder = place.store(host, target.prefix)
        if asked.output is not None:
            path = os.path.abspath(os.path.join(host.cwd, os.path.expanduser(asked.output)))
            return _save(Work(root, tree, draft), path, _former(path, force=asked.force))
        with store.held(folder):
            path = os.path.join(folder, store.name(now.strftime("%Y%m%dT%H%M%S%fZ"), host.name))
            done = _save(Work(root, tree, draft), path, next(_same_cache(folder, draft), None))
            removed = store.thin_out(folder, asked.keep, draft) if asked.keep is not None else []
            return replace(done, removed=tuple(removed))


def _same_cache(folder: str, draft: Manifest) -> Iterator[tuple[str, Manifest]]:
    """Yield the saves of the same cache on this host, youngest first."""
    for path in reversed(store.paths(folder)):
        with contextlib.suppress(EnvDoctorError):  # a damaged one is no save to compare with
            manifest = store.read(path)
            if (manifest.host, manifest.cache) == (draft.host, draft.cache):
                yield path, manifest


def _former(path: str, *, force: bool) -> tuple[str, Manifest] | None:
    """Return what lies in the place of the new save. Raises UsageError if that is something else."""
    if not os.path.lexists(path):
        return None
    try:
        return path, store.read(path)
    except EnvDoctorError:
        if force:
            return None
        raise UsageError(f"{path}: is there already and no save that could be replaced; --force replaces it") from None


def _save(work: Work, path: str, former: tuple[str, Manifest] | None) -> Saved:
    """Write a save unless the former one holds the same."""
    if former and _is_known(work, former[1]):
        return Saved(former[0], former[1], os.stat(former[0]).st_size, written=False)
    if not work.tree.files:
        raise UsageError(f"{work.root}: is empty, there is nothing to save")
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise UsageError(f"{folder}: is not a directory, so no save can be written there")
    with Body(folder) as body:
        body.fill(work)
        manifest = manifest_of(work, body)
        if former and former[1].content() == manifest.content():
            return Saved(former[0], former[1], os.stat(former[0]).st_size, written=False)
        with uninterrupted():
            put(path, body, manifest)
    return Saved(path, manifest, os.stat(path).st_size, written=True)


def _is_known(work: Work, former: Manifest) -> bool:
    """Tell by times alone whether the former save holds the same; its own time is to the second, downwards."""
    if replace(former.made, archs=()) != work.draft.made:
        return False
    taken = datetime.fromisoformat(former.taken_at).timestamp()
    return unchanged(work.tree, former, int(taken * 1e9))


def refuse_strangers(root: str, tree: Tree | None = None) -> None:
    """Raise UsageError if somebody else may have written what lies there, or if it looks like no cache at all."""
    doubt = next(trust.doubts(root), None) or (tree.doubt if tree else None)
    if doubt:
        raise UsageError(
            f"{doubt}: somebody else may have put code into this cache, which torch would run; --force takes it anyway"
        )
    if os.path.isdir(root) and not is_cache(root):
        raise UsageError(f"{root}: does not look like a compile cache of torch; --force takes it anyway")


@contextlib.contextmanager
def failures_told() -> Iterator[None]:
    """Turn what the system refuses into the doctor's own error."""
    try:
        yield
    except OSError as error:
        raise EnvDoctorError(f"{error.filename or 'the cache'}: {error.strerror or error}") from error


@dataclass(frozen=True, slots=True)
class Shelf:
    """The saves of an environment."""

    folder: str
    saves: tuple[store.Listed, ...]
    """Youngest first."""


def shelf(wish: Wish, host: Host) -> Shelf:
    """List the saves of an environment."""
    target = job.find(wish, host)
    with failures_told():
        folder = place.store(host, target.prefix)
        return Shelf(folder, tuple(store.listed(folder)))


def chosen(file: str | None, wish: Wish, host: Host) -> str:
    """Return the save that is meant: a file, else the youngest of the environment's."""
    if file is not None:
        return os.path.abspath(os.path.join(host.cwd, os.path.expanduser(file)))
    with failures_told():
        return store.latest(place.store(host, job.find(wish, host).prefix))


@dataclass(frozen=True, slots=True)
class Verified:
    """A save in which everything is what was saved."""

    path: str
    manifest: Manifest
    seconds: float


def verify(path: str) -> Verified:
    """Hash all that a save holds. Raises UsageError if it is none, DamagedSaveError if something differs."""
    began = time.monotonic()
    with failures_told(), store.unpacking(path) as unpacker:
        for _, blocks in unpacker.members():
            for _block in blocks:
                pass
        return Verified(path, unpacker.manifest, time.monotonic() - began)
