"""Whether an environment may be rebuilt from a lock: the audit's errors stop it."""

from __future__ import annotations

from envdoctor.audit import workflow
from envdoctor.audit.workflow import Asked
from envdoctor.model import Severity
from envdoctor.system.host import Host


def audited(path: str, asked: Asked, host: Host) -> list[str]:
    """Return what the audit finds wrong with a lock, errors alone, a line each; empty if it may be used.

    Raises what the audit raises: LockError for what is no lock, UsageError for a target that is none.
    """
    report = workflow.audit([path], asked, host)
    found = [(rule, finding) for rule, finding in report.findings() if finding.severity == Severity.ERROR]
    unjudged = [f"{outcome.probe} crashed: {outcome.crashed}" for outcome in report.outcomes if outcome.crashed]
    return [
        *(f"line {finding.evidence.get('line', 0)}: {rule}: {finding.message}" for rule, finding in found),
        *unjudged,
    ]
