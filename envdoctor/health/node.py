"""The node by itself, as Slurm wants to know it: whatever users have done to their environments, it may be in order.

Nothing of a user's is looked at, no environment and no variable: a libcuda that somebody puts on his LD_LIBRARY_PATH
must not drain a node.
"""

from __future__ import annotations

import os
import re
import signal
import time
from dataclasses import dataclass, replace

from envdoctor import judge, knowledge, registry, snapshot
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.facts.variables import Variables
from envdoctor.model import Finding, Outcome, Severity, Target
from envdoctor.policy import Policy
from envdoctor.system.dropped import PATH
from envdoctor.system.host import LocalHost

WITHIN = 10.0
"""Seconds that the driver may take; it may hang."""
LIMIT = 50.0
"""Seconds that the deadline may have at most."""
ENDS = 55.0
"""Seconds after which the run ends, wherever it is: slurmd kills a HealthCheckProgram after 60 (slurm.conf)."""
NOWHERE = Target("/", "")
ANY_TORCH = TorchBuild("", None, "any")
"""Whatever torch a job brings: one that is built for CUDA."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the node came to."""

    faults: tuple[tuple[str, Finding], ...] = ()
    """Probe and finding of each fault for which a node is drained."""
    unknown: tuple[str, ...] = ()
    """What could not be judged, with the reason: for that, no node is drained."""


def look(within: float = WITHIN) -> Judged:
    """Judge the machine that this runs on."""
    host = LocalHost(env={"PATH": PATH}, cwd="/")
    wanted = registry.select(tuple(draining()))
    facts = registry.facts_for(wanted) - {"torch_build", "variables"}
    taken = snapshot.take(NOWHERE, host, facts, deadline=within)
    taken = replace(taken, torch_build=ANY_TORCH, variables=Variables())
    return judged(judge.judge(wanted, taken, Policy(), NOWHERE, host.now()))


def draining() -> dict[str, str]:
    """Return the probes for whose errors a node is drained, each with the subject that is the node; "" for any."""
    return {row["probe"]: row.get("subject", "") for row in knowledge.rows("node_faults") if row["drains"]}


def judged(outcomes: tuple[Outcome, ...]) -> Judged:
    """Sort out what is for Slurm."""
    subjects = draining()
    faults = [
        (outcome.probe, finding)
        for outcome in outcomes
        if outcome.probe in subjects
        for finding in outcome.findings
        if finding.severity == Severity.ERROR and subjects[outcome.probe] in ("", finding.subject)
    ]
    skipped = {outcome.skipped.reason for outcome in outcomes if outcome.skipped and outcome.skipped.failed}
    crashed = {f"{outcome.probe} crashed: {outcome.crashed}" for outcome in outcomes if outcome.crashed}
    return Judged(tuple(faults), (*sorted(skipped), *sorted(crashed)))


def name() -> str:
    """Return what Slurm calls this node: as a prolog is told, else the host's name without its domain."""
    told = os.environ.get("SLURMD_NODENAME", "")
    return told if re.fullmatch(r"[A-Za-z0-9._-]+", told) else LocalHost().name.partition(".")[0]


def leave_in_time(status: int, *, began: float) -> None:
    """See to it that this process ends in time, with the node's status; `began` is when it did (monotonic)."""
    signal.signal(signal.SIGALRM, lambda *_: os._exit(status))
    signal.setitimer(signal.ITIMER_REAL, max(0.1, ENDS - (time.monotonic() - began)))
