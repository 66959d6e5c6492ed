"""Read what many archives put where, on all cores: parsing 70,000 rows is seconds of one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

from envdoctor.archives import Archive
from envdoctor.errors import StepError
from envdoctor.installing.contents import Contents, read
from envdoctor.installing.layout import Layout
from envdoctor.model import Unavailable
from envdoctor.system.forked import Task, gather

FEW = 8
"""Archives that are read without a child."""


def read_all(archives: Sequence[Archive], layout: Layout, *, cores: int, ends: float) -> list[Contents]:
    """Return the contents of archives in their order. Raises StepError if there is no time left (monotonic)."""
    if len(archives) <= FEW or cores < 2:
        return [read(archive, layout) for archive in archives]
    left = max(0.1, ends - time.monotonic())
    shares = _shares(archives, cores)
    tasks = [Task(f"archives {n}", partial(_read, share, layout), timeout=left) for n, share in enumerate(shares)]
    known: dict[str, Contents] = {}
    for part in gather(tasks, deadline=left, workers=cores).values():
        if isinstance(part, Unavailable):
            raise StepError("verify", f"the archives were not read: {part.reason}")
        known |= {one.archive.path: one for one in part}
    return [known[archive.path] for archive in archives]


def _read(archives: Sequence[Archive], layout: Layout) -> list[Contents]:
    return [read(archive, layout) for archive in archives]


def _shares(archives: Sequence[Archive], count: int) -> list[list[Archive]]:
    """Share archives out, the largest first, each to whoever has least."""
    shares: list[list[Archive]] = [[] for _ in range(min(count, len(archives)))]
    loads = [0] * len(shares)
    for archive in sorted(archives, key=lambda archive: -archive.size):
        lightest = loads.index(min(loads))
        loads[lightest] += archive.size
        shares[lightest].append(archive)
    return shares
