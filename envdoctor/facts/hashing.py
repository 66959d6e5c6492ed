"""Hash many files on all cores, within a deadline, in bounded memory."""

from __future__ import annotations

import hashlib
import os
import time
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Job:
    """A file, and the digest that it should have."""

    path: str
    digest: str
    """`algorithm=urlsafe-base64-without-padding`."""
    size: int


@dataclass(frozen=True, slots=True)
class Hashed:
    """What came of a job."""

    state: Literal["same", "content", "link", "unknown", "unreadable"]
    """`unknown`: no algorithm of this Python."""
    known: Times | None = None
    """Its identity, if it is the same and may be remembered."""
    said: str = ""
    """Why it could not be read."""


_UNKNOWN = Hashed("unknown")
_WIDTH = 4
"""Bytes of a portion's number."""


def hash_all(jobs: Sequence[Job], ends: float, cores: int) -> dict[int, Hashed]:
    """Return what came of each job by its number; those that were not reached at `ends` (monotonic) are not in it.

    Workers take portions off one list, the largest first: whoever is done takes the next.
    """
    portions = _portions(jobs)
    if not portions:
        return {}
    end_with_parent()  # so that no worker outlives a doctor that is killed
    count = min(cores, len(portions))
    left = max(0.0, ends - time.monotonic()) + GRACE
    queue = os.memfd_create("portions")
    try:
        os.write(queue, b"".join(number.to_bytes(_WIDTH) for number in range(len(portions))))
        os.lseek(queue, 0, os.SEEK_SET)
        work = partial(_work, jobs, portions, queue, ends)
        parts = gather([Task(f"hashing {n}", work, timeout=left) for n in range(count)], deadline=left, workers=count)
    finally:
        os.close(queue)
    return {number: hashed for part in parts.values() if isinstance(part, dict) for number, hashed in part.items()}


def _portions(jobs: Sequence[Job]) -> list[list[int]]:
    """Put files together that one worker hashes before it asks for more; those with most bytes come first."""
    portions: list[list[int]] = [[]]
    size = 0
    for number in sorted(range(len(jobs)), key=lambda number: -jobs[number].size):
        if portions[-1] and (size + jobs[number].size > PORTION or len(portions[-1]) == MANY):
            portions.append([])
            size = 0
        portions[-1].append(number)
        size += jobs[number].size
    return [portion for portion in portions if portion]


def _work(jobs: Sequence[Job], portions: Sequence[Sequence[int]], queue: int, ends: float) -> dict[int, Hashed]:
    """Hash portions until there are none, or the time is over. Workers share the position in the list (fork(2))."""
    end_with_parent()
    found: dict[int, Hashed] = {}
    buffer = memoryview(bytearray(BLOCK))
    while data := os.read(queue, _WIDTH):
        for number in portions[int.from_bytes(data)]:
            hashed = _hashed(jobs[number], buffer, ends)
            if hashed is None:
                return found
            found[number] = hashed
    return found


def _hashed(job: Job, buffer: memoryview, ends: float) -> Hashed | None:
    """Hash one file; None if the time is over before its end."""
    algorithm, _, recorded = job.digest.partition("=")
    if algorithm not in hashlib.algorithms_guaranteed or algorithm.startswith("shake"):
        return _UNKNOWN
    began = time.time()
    try:
        found, before = descriptor(job.path)
        with open(found, "rb", buffering=0) as stream:
            digest = hashlib.new(algorithm, usedforsecurity=False)
            while count := stream.readinto(buffer):
                if time.monotonic() > ends:
                    return None
                digest.update(buffer[:count])
            after = os.fstat(found)
    except (OSError, ValueError) as error:
        return Hashed("unreadable", said=getattr(error, "strerror", None) or str(error))
    if urlsafe_b64encode(digest.digest()).rstrip(b"=").decode() != recorded.rstrip("="):
        return Hashed(content_fault(job.path))
    known = identity(after)
    settled = known == identity(before) and after.st_ctime <= began - SETTLED
    return Hashed("same", known if settled else None)
