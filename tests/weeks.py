"""Weeks in the life of one environment, by a fake clock: healthy, contaminated, cache wiped, toolkits swapped, rebuilt.

Facts are values; they are judged by the real probes and recorded by the real state.
"""

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from compared import GOOD
from values import (
    TARGET,
    cache,
    caches,
    distribution,
    distributions,
    driver,
    gpu,
    lock,
    pin,
    toolkit,
    toolkits,
    variables,
    warm,
)

from envdoctor import recorded, registry
from envdoctor.judge import judge
from envdoctor.model import Report
from envdoctor.policy import Policy
from envdoctor.snapshot import Snapshot
from envdoctor.state import runs
from envdoctor.state.values import Subject

BEGIN = datetime(2026, 6, 1, 8, 0, tzinfo=UTC)
TURNS = {
    "contaminated": datetime(2026, 6, 2, 14, 22, tzinfo=UTC),
    "wiped": datetime(2026, 6, 3, 11, 0, tzinfo=UTC),
    "swapped": datetime(2026, 6, 4, 12, 30, tzinfo=UTC),
    "rebuilt": datetime(2026, 6, 6, 9, 0, tzinfo=UTC),
}
"""When what happened."""
END = datetime(2026, 6, 8, tzinfo=UTC)
STEP = timedelta(hours=6)
LOCKED = ("torch==2.11.0", "transformers==5.6.0", "numpy==2.3.5", "six==1.17.0", "triton==3.6.0")
CAME = ("sglang==0.5.9", "flashinfer-python==0.6.13", "tilelang==0.1.12", "anyio==4.12.0")
DEVICES = ("cuda:0", "cuda:1")
HOSTILE = "<script>alert(1)</script>\"'&\x1b[31m\u202e" + "x" * 300
"""What a target may be called, or hold."""


def _installed(*names, at):
    items = [distribution(*name.split("=="), installed_at=at.timestamp(), started_at=at.timestamp()) for name in names]
    return distributions(*items)


def facts(moment, hostile=False):
    """Return what a run at this moment sees, as facts by name."""
    done = {turn for turn, at in TURNS.items() if moment >= at}
    sick = "rebuilt" not in done
    names, installed = LOCKED, BEGIN - timedelta(days=9)
    if "contaminated" in done and sick:
        names = tuple(name.replace("transformers==5.6.0", "transformers==5.8.1") for name in LOCKED) + CAME
        installed = TURNS["contaminated"]
    elif not sick:
        installed = TURNS["rebuilt"]
    if hostile and "contaminated" in done and sick:
        names += (f"{HOSTILE}==1",)
    keys = 10 + 3 * min(20, int((moment - BEGIN) / timedelta(hours=1)))
    held = warm(*DEVICES, graphs=keys, size=keys * 40_000 << 3)
    held = replace(
        held,
        counts=tuple(
            replace(each, size=each.keys * (40_000 + 999 * number)) for number, each in enumerate(held.counts)
        ),
    )
    if "wiped" in done and sick:
        held = cache(exists=False)
    chosen = 1 if "swapped" in done and sick else 0
    return GOOD | {
        "distributions": _installed(*names, at=installed),
        "compile_caches": replace(caches(held), taken_at=moment.timestamp()),
        "toolkits": toolkits(toolkit(), toolkit("/opt/cuda-12.8", "12.8.93", "12.8"), CUDA_HOME=chosen, PATH=0),
        "variables": variables(CUDA_HOME=("/usr/local/cuda-13.0", "/opt/cuda-12.8")[chosen]),
        "driver": driver(gpu(0), gpu(1)),
        "lock": lock(*(pin(name) for name in LOCKED), digest="a" * 64),
    }


def seen(moment, prefix="/env", host="node7", hostile=False):
    """Return what a run saw, and what it came to."""
    target = replace(TARGET, prefix=prefix, python=f"{prefix}/bin/python")
    taken = recorded.record(Snapshot(**facts(moment, hostile)), target, Policy(), host, moment)
    return taken, judged(taken, moment)


def judged(taken, moment):
    """Judge a snapshot, by all probes whose facts are there."""
    probes = registry.select(("packages/foreign", "packages/drifted", "packages/missing", "cache", "cuda/toolkit"))
    outcomes = judge(probes, taken.facts, taken.head.policy, taken.head.target, moment)
    return Report(taken.head.target, "3.12.3", taken.head.host, moment, 0.3, outcomes)


def record_weeks(path, prefix, host, *, until=END, step=STEP, user=None, hostile=False):
    """Write the history of these weeks into a state."""
    subject = Subject(host, str(os.geteuid()) if user is None else user, prefix)
    moment = BEGIN
    while moment < until:
        taken, report = seen(moment, prefix, host, hostile)
        runs.record(str(path), subject, taken, report, moment)
        moment += step
    return subject
