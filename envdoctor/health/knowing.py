"""What a run under cron can tell of an environment, and what it cannot: it is no job, and knows little of jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from envdoctor.model import Unavailable
from envdoctor.policy import Policy
from envdoctor.snapshot import FACTS

UNKNOWN = Unavailable(
    "job environment unknown: name its variables in the configuration of health, or let its owner run `envdoctor check`"
)
OF_THE_JOB = ("variables", "loader")
"""Facts that are nothing without the job's variables."""
BY_VARIABLES = frozenset(
    {
        "cache/toolkit-mismatch",
        "cuda/missing-libcuda-link",
        "cuda/ptxas-too-old",
        "cuda/toolkit-changed",
        "cuda/toolkit-mismatch",
        "environment/missing-headers",
        "environment/no-compiler",
        "environment/user-site",
    }
)
"""Probes whose facts can be read without the job's variables, and would be another job's: CUDA_HOME, PATH, CPATH."""
NOT_OURS: Mapping[str, Unavailable] = {
    "node/low-limits": Unavailable("the limits of a job are not those of a run of health"),
}
"""Probe -> why it is never judged here."""
NODE = "node"
"""Area of the machine's own probes: the job's variables change nothing about it, and no user's policy does."""
ON_NETWORK = frozenset(
    {"interpreter", "search_path", "distributions", "lock", "lock_scan", "lock_source", "seal", "job_log"}
    | {"variables", "driver", "toolkits", "node", "gpu_use"}
)
"""Facts that are read where the environment lies on a network file system: dist-info and times of directories, the lock
and the seal, and what is the machine's own. All others read many files."""


@dataclass(frozen=True, slots=True)
class Job:
    """The variables of an environment's jobs, and how they are known."""

    variables: Mapping[str, str] = field(default_factory=dict)
    said: str = "unknown"
    known: bool = False


def configured(variables: Mapping[str, str]) -> Job:
    """Return what the configuration says."""
    return Job(variables, "as configured", known=True)


def remembered(moment: datetime, variables: Mapping[str, str], now: datetime) -> Job:
    """Return what the owner's last check recorded."""
    return Job(variables, f"as of its owner's last check, {age(now - moment)} ago", known=True)


def age(passed: timedelta) -> str:
    """Return a span of time as a person would say it."""
    seconds = max(0, int(passed.total_seconds()))
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def instead(job: Job, network: str) -> dict[str, Unavailable]:
    """Return what to say of facts that are not to be read."""
    said = {} if job.known else dict.fromkeys(OF_THE_JOB, UNKNOWN)
    if network:
        distant = Unavailable(f"it lies on a file system of type {network}: health reads little of it")
        said |= {name: distant for name in FACTS if name not in ON_NETWORK}
    return said


def unjudged(probe: str, job: Job) -> Unavailable | None:
    """Say why a probe is not to be judged; None if it is."""
    return NOT_OURS.get(probe) or (UNKNOWN if not job.known and probe in BY_VARIABLES else None)


def restricted(policy: Policy) -> Policy:
    """Return what a target's own policy may say where root judges: what it should hold, its limits and its mutes."""
    default = Policy()
    return replace(
        policy, hosts=default.hosts, sdists=default.sdists, severity=default.severity, plugins=default.plugins
    )
