"""What the compile caches hold for the new environment: whether its first step will compile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

from envdoctor import registry, snapshot
from envdoctor.errors import EnvDoctorError
from envdoctor.judge import judge
from envdoctor.locate import Wish, locate
from envdoctor.model import Severity, Unavailable
from envdoctor.snapshot import Snapshot
from envdoctor.system.forked import call
from envdoctor.system.host import Host
from envdoctor.views import warmth

AREA = ("cache",)
WITHIN = 20.0
"""Seconds; the rebuild is done by then, so that what is not seen in time is said to be unknown."""
MOVED = (
    "C++ kernels (of the CPU) are known by the environment's path: jobs that start from the activated environment "
    "compile them anew, whatever the cache holds"
)
"""Measured: the same wheels at another path made new shared objects though all counters said hit."""


def verdict(link: str, host: Host) -> tuple[str, ...]:
    """Return what is to be said of the compile caches, a line each; none if there is no torch."""
    try:
        return tuple(_lines(link, host))
    except EnvDoctorError as error:
        return (f"compile cache: not known: {error}",)


def _lines(link: str, host: Host) -> Iterator[str]:
    wish = Wish(link, os.devnull)
    target, policy = call("the search for the new environment", partial(locate, wish, host), timeout=WITHIN)
    probes = registry.select(AREA)
    taken = snapshot.take(target, host, registry.facts_for(probes), deadline=WITHIN, meanwhile=snapshot.load())
    if isinstance(taken.torch_build, Unavailable):
        return
    yield warm(taken)
    yield MOVED
    for outcome in judge(probes, taken, policy, target, host.now()):
        for finding in outcome.findings:
            if finding.severity > Severity.NOTE:
                yield f"{finding.severity.label}: {outcome.probe}: {finding.message}"


def warm(taken: Snapshot) -> str:
    """Say what the cache holds for this build."""
    caches, build = taken.compile_caches, taken.torch_build
    if isinstance(caches, Unavailable) or isinstance(build, Unavailable):
        reasons = [fact.reason for fact in (caches, build) if isinstance(fact, Unavailable)]
        return f"compile cache: not known: {reasons[0]}"
    seen = warmth.view(caches, build, taken.jit_tools)
    if isinstance(seen, Unavailable):
        return f"compile cache: not known: {seen.reason}"
    where = f"compile cache {seen.cache.path} ({seen.cache.place.why})"
    if seen.cold:
        return f"{where}: cold for torch {build.version}: the first step of every job compiles"
    said = warmth.spoken({kind: seen.keys(kind) for kind in ("aotautograd", "fxgraph", "triton")})
    return f"{where}: {said} for torch {build.version}"
