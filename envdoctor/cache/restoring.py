"""`envdoctor cache restore`: only what fits, whole, and without taking anything from what is there."""

from __future__ import annotations

import os
from dataclasses import dataclass

from envdoctor.cache import job, place, store, trust
from envdoctor.cache.manifest import Kept, Manifest
from envdoctor.cache.packing import Unpacker
from envdoctor.cache.users import refuse_in_use
from envdoctor.cache.workflow import failures_told, refuse_strangers
from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.locate import Wish
from envdoctor.printable import size_of
from envdoctor.system.beside import Merge, settle, staged, swap_in, write_new
from envdoctor.system.host import Host

BOUND = "triton/"
"""What is bound to the path at which it was saved: `__grp__NAME.json` holds absolute paths."""
SPARE = 1.02
"""Room demanded, as a multiple of the bytes to be written."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What came of it."""

    path: str
    """The cache."""
    why: str
    """Why it is that one."""
    source: str
    manifest: Manifest
    added: int
    kept: tuple[Kept, ...]
    """Files of the save of whose name something was there already."""
    bound: int
    """Files left out because the path is another one."""
    other_venv: str | None
    """The environment that it was saved for, if that is another one."""


def restore(path: str, wish: Wish, host: Host, *, to: str | None = None, force: bool = False) -> Restored:
    """Bring a save back.

    Raises UsageError if it does not fit or must not be touched now, DamagedSaveError if it is damaged, EnvDoctorError
    if it cannot be done. Whatever happens, each file of the cache is the old one, the saved one, or not there.
    """
    target = job.find(wish, host)
    here = job.read(target, host, gpus=True).made
    with failures_told():
        at = place.inductor(host, to, "--to")
        if not force:
            _trust(path)
            refuse_strangers(at.path)
        with store.unpacking(path) as save:
            unlike = [] if force else list(job.differences(save.manifest.made, here))
            if unlike:
                raise UsageError(f"{path}: does not fit here: {'; '.join(unlike)}; --force restores it anyway")
            refuse_in_use(at.path, "restore")
            same = os.path.realpath(save.manifest.cache) == os.path.realpath(at.path)
            wanted = tuple(kept for kept in save.manifest.files if same or not kept.path.startswith(BOUND))
            left = _bring(save, wanted, at.path)
    moved = save.manifest.target if save.manifest.target != target.prefix else None
    bound = len(save.manifest.files) - len(wanted)
    return Restored(at.path, at.why, path, save.manifest, len(wanted) - len(left), left, bound, moved)


def _trust(path: str) -> None:
    if doubt := next(trust.doubts(path), None):
        raise UsageError(
            f"{doubt}: somebody else may have put code into this save, which torch would run; --force takes it anyway"
        )


def _bring(save: Unpacker, wanted: tuple[Kept, ...], folder: str) -> tuple[Kept, ...]:
    """Unpack all of a save before any of it is put in place; return what was there already."""
    store.make_private(os.path.dirname(folder))
    with staged(folder) as stage:
        _make_room(stage, sum(kept.size for kept in wanted))
        tree = os.path.join(stage, "tree")
        _unpack(save, frozenset(kept.path for kept in wanted), tree)
        settle(stage)
        refuse_in_use(folder, "restore")
        if swap_in(tree, folder):
            return ()
        with Merge(tree, folder) as merge:
            return tuple(kept for kept in sorted(wanted, key=_turn) if not merge.add(kept.path))


def _make_room(folder: str, size: int) -> None:
    """Raise EnvDoctorError if the file system has no room for what the manifest says will come."""
    status = os.statvfs(folder)
    free = status.f_bavail * status.f_frsize
    if size * SPARE > free:
        raise EnvDoctorError(f"{folder}: the save takes {size_of(size)}, {size_of(free)} are free")


def _unpack(save: Unpacker, wanted: frozenset[str], tree: str) -> None:
    """Write the files; those that are not wanted are read all the same, since a damaged save is not to be used."""
    os.mkdir(tree, 0o700)
    made = {tree}
    for kept, blocks in save.members():
        if kept.path not in wanted:
            for _ in blocks:
                pass
            continue
        path = os.path.join(tree, kept.path)
        if (parent := os.path.dirname(path)) not in made:
            store.make_private(parent)
            made.add(parent)
        write_new(path, blocks, mode=0o700 if kept.mode & 0o100 else 0o600)


def _turn(kept: Kept) -> tuple[int, str]:
    """Put first what others refer to: a kernel's group file after its files, pickles after what they name."""
    name = os.path.basename(kept.path)
    if kept.path.startswith(("fxgraph/", "aotautograd/")):
        return (2 if kept.path.startswith("fxgraph/") else 3), kept.path
    return (1 if name.startswith("__grp__") else 0), kept.path
