"""Hash what was installed on all cores, and tell how far it is."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial

from envdoctor.errors import EnvDoctorError, StepError
from envdoctor.facts import hashing
from envdoctor.facts.hashing import Job, hash_all
from envdoctor.printable import size_of
from envdoctor.progress import Progress, Work
from envdoctor.system.forked import call

LARGE = 64 << 20
"""Bytes from which files go first, all together, so that no core waits for the last of them alone."""
BATCH = 2 << 30
"""Bytes hashed between two words of progress."""
MANY = 40_000
"""Files hashed between two words of progress."""


def compare(jobs: Sequence[Job], *, cores: int, ends: float, work: Work) -> dict[int, hashing.Fault]:
    """Return what is wrong, by the number of the job.

    Raises StepError if not all were hashed when the time (monotonic) is over. The work is done in a child of this
    process: hash_all ends with whoever calls it, and the doctor itself must outlive its terminal.
    """
    total = sum(size for _, _, size in jobs)
    faults: dict[int, hashing.Fault] = {}
    done = 0
    for batch in _batches(jobs):
        work.tell(Progress("verify", "", done, total, "bytes"))
        run = partial(_counted, [jobs[number] for number in batch], ends, cores)
        left = max(0.1, ends - time.monotonic())
        try:
            reached, found = call("hashing", run, timeout=left + 2 * hashing.GRACE)
        except EnvDoctorError as error:
            raise StepError("verify", str(error)) from error
        if reached < len(batch):
            raise StepError("verify", f"the time was over after {size_of(done)} of {size_of(total)}")
        faults |= {batch[number]: fault for number, fault in found.items()}
        done += sum(jobs[number][2] for number in batch)
    work.tell(Progress("verify", "", total, total, "bytes"))
    return faults


def _counted(jobs: Sequence[Job], ends: float, cores: int) -> tuple[int, dict[int, hashing.Fault]]:
    """Hash, and keep what is to be told: how many were reached, and what is wrong."""
    found = hash_all(jobs, ends, cores)
    return len(found.same) + len(found.faults), found.faults


def _batches(jobs: Sequence[Job]) -> Iterator[list[int]]:
    batch: list[int] = []
    size = 0
    for number in sorted(range(len(jobs)), key=lambda number: -jobs[number][2]):
        own = jobs[number][2]
        if batch and own < LARGE and (size + own > BATCH or len(batch) == MANY):
            yield batch
            batch, size = [], 0
        batch.append(number)
        size += own
    if batch:
        yield batch
