"""Write a save: read each file at one moment, pack it, and put the whole in place in one step."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import BinaryIO, Self

from envdoctor.cache.manifest import Kept, Manifest
from envdoctor.cache.packing import BLOCK, Packer, write_manifest
from envdoctor.cache.tree import Seen, Tree, seen
from envdoctor.system.host import write_atomically
from envdoctor.system.reading import descriptor, opened

TRIES = 4
"""Times that a file is read which changes meanwhile, before it is left out."""
REST = 1.0
"""Seconds that a file must have been left alone: a linker writes in place, with pauses in which nothing moves."""
IN_MEMORY = 32 << 20
"""Bytes up to which a file is held in memory until it is known not to have changed; a larger one in a file."""
SETTLED_NS = 2_000_000_000
"""Age that a file must have for its times to tell: a change within one tick of the clock would not show in them."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a save is made of."""

    root: str
    """The cache."""
    tree: Tree
    draft: Manifest
    """The manifest without files."""


def unchanged(tree: Tree, latest: Manifest, taken_ns: int) -> bool:
    """Tell whether every file is the one that was saved last, by size and times, and none is missing or new."""
    known = {kept.path: kept for kept in latest.files}
    return len(known) == len(tree.files) and all(_is_same(item, known.get(item.path), taken_ns) for item in tree.files)


def _is_same(item: Seen, kept: Kept | None, taken_ns: int) -> bool:
    if kept is None or (kept.size, kept.mode, kept.stamp) != (item.size, item.mode, item.stamp):
        return False
    return max(item.stamp[:2]) < taken_ns - SETTLED_NS


class Body:
    """The second frame of a save, in a file without a name, and what has gone into it."""

    def __init__(self, folder: str) -> None:
        self.file: BinaryIO = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        self.copy: BinaryIO = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        """A large file, until it is known not to have changed."""
        self.files: list[Kept] = []
        self.left: Counter[str] = Counter()
        self.archs: set[str] = set()

    def __enter__(self) -> Self:
        """Hold the file."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of it."""
        self.file.close()
        self.copy.close()

    def fill(self, work: Work) -> None:
        """Pack all files of a cache."""
        packer = Packer(self.file.fileno(), len(os.sched_getaffinity(0)))
        limit = time.time_ns() - int(REST * 1e9)
        for item in sorted(work.tree.files, key=lambda item: item.stamp[1] > limit):  # what is young has its time
            try:
                self._pack(packer, work.root, item)
            except FileNotFoundError:
                self.left["vanished meanwhile"] += 1
            except ValueError:  # no regular file any more
                self.left["links and other special files"] += 1
        packer.data(bytes(2 * 512))  # the end of a tar
        packer.close()

    def _pack(self, packer: Packer, root: str, item: Seen) -> None:
        found = _steady(f"{root}/{item.path}", item, self.copy)
        if found is None:
            self.left["changed whenever they were read"] += 1
            return
        now, digest, blocks = found
        packer.member(now.path, now.size, now.mode)
        for block in blocks:
            packer.data(block)
            if len(block) == now.size and now.path.startswith("triton/") and now.path.endswith(".json"):
                self.archs |= _arch(block)
        packer.pad(now.size)
        self.files.append(Kept(now.path, now.size, now.mode, digest, now.stamp))


def _arch(data: bytes) -> set[str]:
    """Return what a kernel of triton was compiled for, by its JSON (triton/compiler/compiler.py, Triton 3.5 to 3.9)."""
    try:
        target = json.loads(data)["target"]
        return {f"{target['backend']}:{target['arch']}"}
    except (ValueError, KeyError, TypeError, RecursionError):
        return set()


Found = tuple[Seen, str, Iterable[bytes]]
"""A file's state, its sha256 and its bytes."""


def _steady(path: str, item: Seen, copy: BinaryIO) -> Found | None:
    """Give a file as it was at one moment; None if it changed under each reading."""
    stamp = item.stamp
    for _ in range(TRIES):
        if wait := _unrest(stamp):
            time.sleep(wait)
        found = _in_memory(path, item.path) if item.size <= IN_MEMORY else _in_file(path, item.path, copy)
        if found is not None:
            return found
        stamp = seen(item.path, os.lstat(path)).stamp
    return None


def _unrest(stamp: tuple[int, int, int]) -> float:
    """Return for how many seconds a file has to be left alone yet. A time to come is a clock's fault."""
    age = time.time() - max(stamp[:2]) / 1e9
    return REST - age if 0 <= age < REST else 0.0


def _in_memory(path: str, name: str) -> Found | None:
    number, status = descriptor(path, follow=False)
    try:
        data = os.read(number, min(status.st_size, IN_MEMORY) + 1)
        now = seen(name, os.fstat(number))
    finally:
        os.close(number)
    if now != seen(name, status) or len(data) != now.size or _unrest(now.stamp):
        return None
    return now, hashlib.sha256(data).hexdigest(), (data,)


def _in_file(path: str, name: str, copy: BinaryIO) -> Found | None:
    copy.seek(0)
    copy.truncate()
    digest = hashlib.sha256()
    with opened(path, follow=False) as stream:
        before = seen(name, os.fstat(stream.fileno()))
        left = before.size
        while left and (block := stream.read(min(left, BLOCK))):
            left -= len(block)
            digest.update(block)
            copy.write(block)
        after = seen(name, os.fstat(stream.fileno()))
    if before != after or left or _unrest(before.stamp):
        return None
    copy.seek(0)
    return before, digest.hexdigest(), iter(lambda: copy.read(BLOCK), b"")


def put(path: str, body: Body, manifest: Manifest) -> None:
    """Write manifest and body to a file that nobody else can read. Raises EnvDoctorError if it cannot."""

    def write(descriptor: int) -> None:
        write_manifest(descriptor, manifest)
        size, at = os.fstat(body.file.fileno()).st_size, 0
        while at < size:
            at += os.sendfile(descriptor, body.file.fileno(), at, size - at)

    write_atomically(path, write, mode=0o600)


def manifest_of(work: Work, body: Body) -> Manifest:
    """Complete the manifest by what was really packed."""
    left: Mapping[str, int] = Counter(work.tree.left_out) + body.left
    made = replace(work.draft.made, archs=tuple(sorted(body.archs)))
    return replace(work.draft, made=made, files=tuple(body.files), left_out=dict(left))
