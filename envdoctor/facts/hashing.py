"""Hash many files on all cores, within a deadline, in bounded memory."""

from __future__ import annotations

import hashlib
import os
import time
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from envdoctor.facts.comparison import content_fault
from envdoctor.facts.stat_index import Times
from envdoctor.system.forked import Task, end_with_parent, gather
from envdoctor.system.reading import descriptor

BLOCK = 1 << 20
"""Bytes read at a time."""
PORTION = 16 << 20
"""Bytes of files that a worker takes at a time; a larger file is a portion of its own, and comes first."""
MANY = 256
"""Files of one portion at most."""
GRACE = 2.0
"""Seconds that a worker has to hand over what it found when the time is over."""
SETTLED = 2.0
"""Seconds that a file must have been left alone before it was hashed. What is written later then has another ctime,
whatever the resolution of the file system's clock: FAT has 2 s, network file systems 1 s, ext4 a tick of the kernel."""


def identity(status: os.stat_result) -> Times:
    """Return what tells that a file is the one that was hashed: size, mtime and ctime in nanoseconds, inode.

    Nobody can set ctime but by setting the clock, and a file that is put in another's place has another inode.
    """
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


Job = tuple[str, str, int]
"""Path, the digest that it should have (`algorithm=urlsafe-base64-without-padding`), and bytes. There are tens of
thousands, so it is a plain tuple."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A file that is not known to be the same."""

    state: Literal["content", "link", "unknown", "unreadable"]
    """`unknown`: no algorithm of this Python."""
    said: str = ""
    """Why it could not be read."""


@dataclass(slots=True)
class Hashed:
    """What came of jobs, by their numbers. Those that were not reached are in neither."""

    same: dict[int, Times | None] = field(default_factory=dict)
    """The identity of the file, None if it is not to be remembered."""
    faults: dict[int, Fault] = field(default_factory=dict)


_UNKNOWN = Fault("unknown")
_WIDTH = 4
"""Bytes of a portion's number."""


def hash_all(jobs: Sequence[Job], ends: float, cores: int) -> Hashed:
    """Return what came of the jobs until `ends` (monotonic).

    Workers take portions off one list, the largest first: whoever is done takes the next.
    """
    found = Hashed()
    portions = _portions(jobs)
    if not portions:
        return found
    end_with_parent()  # so that no worker outlives a doctor that is killed
    count = min(cores, len(portions))
    left = max(0.0, ends - time.monotonic()) + GRACE
    queue = _shared(b"".join(number.to_bytes(_WIDTH) for number in range(len(portions))))
    try:
        work = partial(_work, jobs, portions, queue, ends)
        parts = gather([Task(f"hashing {n}", work, timeout=left) for n in range(count)], deadline=left, workers=count)
    finally:
        os.close(queue)
    for part in parts.values():
        if isinstance(part, Hashed):
            found.same |= part.same
            found.faults |= part.faults
    return found


def _shared(data: bytes) -> int:
    """Return a file of these bytes whose position forked workers share.

    The kernel lets one at a time read at a shared position where a file was opened by its name, and not where
    memfd_create(2) gave the descriptor (FMODE_ATOMIC_POS of fs/open.c): so it is opened once more.
    """
    memory = os.memfd_create("portions")
    try:
        os.write(memory, data)
        return os.open(f"/proc/self/fd/{memory}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(memory)


def _portions(jobs: Sequence[Job]) -> list[list[int]]:
    """Put files together that one worker hashes before it asks for more; those with most bytes come first."""
    portions: list[list[int]] = [[]]
    size = 0
    for number in sorted(range(len(jobs)), key=lambda number: -jobs[number][2]):
        if portions[-1] and (size + jobs[number][2] > PORTION or len(portions[-1]) == MANY):
            portions.append([])
            size = 0
        portions[-1].append(number)
        size += jobs[number][2]
    return [portion for portion in portions if portion]


def _work(jobs: Sequence[Job], portions: Sequence[Sequence[int]], queue: int, ends: float) -> Hashed:
    """Hash portions until there are none, or the time is over. Workers share the position in the list (fork(2))."""
    end_with_parent()
    found = Hashed()
    buffer = memoryview(bytearray(BLOCK))
    while data := os.read(queue, _WIDTH):
        for number in portions[int.from_bytes(data)]:
            path, digest, _ = jobs[number]
            try:
                outcome = _hashed(path, digest, buffer, ends)
            except TimeoutError:
                return found
            if isinstance(outcome, Fault):
                found.faults[number] = outcome
            else:
                found.same[number] = outcome
    return found


def _hashed(path: str, digest: str, buffer: memoryview, ends: float) -> Times | Fault | None:
    """Hash one file; return its identity if it is the same and to be remembered. Raises TimeoutError at `ends`."""
    algorithm, _, recorded = digest.partition("=")
    if algorithm not in hashlib.algorithms_guaranteed or algorithm.startswith("shake"):
        return _UNKNOWN
    began = time.time()
    try:
        found, before = descriptor(path)
        try:
            digest_of = getattr(hashlib, algorithm)(usedforsecurity=False)
            left = before.st_size
            while left > 0 and (count := os.readv(found, [buffer])):
                if time.monotonic() > ends:
                    raise TimeoutError
                digest_of.update(buffer[:count])
                left -= count
            after = os.fstat(found)
        finally:
            os.close(found)
    except TimeoutError:
        raise
    except (OSError, ValueError) as error:  # ValueError: no regular file; an algorithm that this OpenSSL forbids
        return Fault("unreadable", getattr(error, "strerror", None) or str(error))
    if urlsafe_b64encode(digest_of.digest()).rstrip(b"=").decode() != recorded.rstrip("="):
        return Fault(content_fault(path))
    known = identity(after)
    return known if known == identity(before) and after.st_ctime <= began - SETTLED else None
