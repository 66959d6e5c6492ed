"""`envdoctor cache verify --run -- CMD`: run the user's command once, and prove that it started from a warm cache."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from envdoctor import hits
from envdoctor.cache import counters, job, place
from envdoctor.cache.workflow import failures_told
from envdoctor.locate import Wish
from envdoctor.system import foreground
from envdoctor.system.host import Host


@dataclass(frozen=True, slots=True)
class Proof:
    """What a run showed."""

    command: tuple[str, ...]
    cache: str
    status: int
    """The command's exit status, negative for a signal."""
    counters: Mapping[str, int]
    """Of all processes together."""
    processes: int
    """Processes that imported torch and told of it."""
    faults: tuple[str, ...]
    """Why it is not proven; empty if it is."""
    seconds: float


def prove(command: Sequence[str], wish: Wish, host: Host, *, cache: str | None) -> Proof:
    """Run it in the target. Raises UsageError if it cannot be started."""
    target = job.find(wish, host)
    with failures_told(), tempfile.TemporaryDirectory(prefix="envdoctor-counters-") as folder:
        root = place.inductor(host, cache).path
        before = counters.files(root)
        began = time.monotonic()
        env = counters.environment(target, host, folder, cache and root)
        status = foreground.run(command, env=env, cwd=host.cwd)
        seconds = time.monotonic() - began
        new = sorted(counters.files(root) - before)
        told = list(counters.told(folder))
    total = counters.total(told)
    faults = (
        *counters.of_command(status),
        *counters.judged(told, total, root),
        *hits.grown(new, len(new), shared=True),
    )
    return Proof(tuple(command), root, status, counters.shown(total), len(told), faults, seconds)
