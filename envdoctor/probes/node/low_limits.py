"""A resource limit of the session is too low for a training job.

Why it matters: data loader workers and ranks hold thousands of descriptors; past the limit torch says "received 0 items
of ancdata" or "too many open files", hours into the run. A container near its memory limit loses a process to the
kernel, without a message in the job's own log.

What to do: raise the soft limit in the job script (`ulimit -n 65536`), or the hard one in limits.conf, the unit file or
the container's settings. The limits are `limits.nofile` and `limits.nproc` of the configuration.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.node import Node
from envdoctor.model import Finding, Severity
from envdoctor.policy import Policy
from envdoctor.printable import size_of

_FLAGS = {"nofile": "-n", "nproc": "-u"}
_WHAT = {"nofile": "open files", "nproc": "processes and threads"}
NEARLY = 0.9
"""Share of the container's memory in use before the job has begun."""


def check(node: Node, policy: Policy) -> Iterable[Finding]:
    """Compare soft limits with the wanted ones; unlimited is never too low."""
    for name, flag in _FLAGS.items():
        have, wanted = node.limits.get(name), policy.limits[name]
        if have is not None and have < wanted:
            yield Finding(
                Severity.WARNING,
                name,
                f"{_WHAT[name]} are limited to {have:,} for this session; a job may need {wanted:,}",
                {"soft": have, "wanted": wanted},
                (f"ulimit {flag} {wanted}",),
            )
    if node.memory_limit and node.memory_used and node.memory_used > NEARLY * node.memory_limit:
        yield Finding(
            Severity.WARNING,
            "memory",
            f"{size_of(node.memory_used)} of the {size_of(node.memory_limit)} that this container may use are in use",
            {"used": node.memory_used, "limit": node.memory_limit},
            ("end what else runs in the container, or raise its memory limit",),
        )
