"""The log of a failed run shows a known failure that no other probe explains.

Why it matters: a traceback tells where a job stopped, seldom why. The table below has texts of torch, triton, CUDA,
NCCL and the loader that go back to the environment or the node, each with its source. The run is past and its cause may
be gone; where another probe finds the cause still there, its finding says that the log shows it, and is an error. If a
log shows no known failure, its last traceback is named, with the subject `traceback`.

What to do: follow the steps of the finding, and check again without the log before the next run. A failure that is none
of the environment's is muted by its signature, the finding's subject.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from envdoctor import knowledge
from envdoctor.facts.job_log import JobLog
from envdoctor.facts.traces import Trace
from envdoctor.model import Finding, Severity


def check(job_log: JobLog) -> Iterable[Finding]:
    """Report each failure of each thing; those that another finding explains are taken out after all have run."""
    sources = {row["id"]: row["source"] for row in knowledge.rows("signatures")}
    for match in job_log.matches:
        lines = f", {match.count} lines" if match.count > 1 else ""
        yield Finding(
            Severity.WARNING,
            match.id,
            f"{match.says} ({job_log.place(match)}{lines})",
            {
                "file": job_log.path,
                "line": match.line,
                "text": match.text,
                "signature": match.id,
                "count": match.count,
                "source": sources.get(match.id, ""),
            },
            match.cure,
        )
    if job_log.trace is not None:
        yield _unknown(job_log.path, job_log.trace)


def _unknown(path: str, trace: Trace) -> Finding:
    """Report a traceback that no row of the table knows: that nothing is known of it does not make it healthy."""
    return Finding(
        Severity.WARNING,
        "traceback",
        f"the log holds a traceback that is not known: {trace.raised}{f' ({trace.place})' if trace.place else ''}",
        {"file": path, "line": trace.line},
        (f"less +{trace.line} {shlex.quote(path)}",),
    )
