"""Whether a lock that was just made may take its place."""

from __future__ import annotations

from envdoctor.audit import workflow
from envdoctor.errors import LockError
from envdoctor.model import Severity
from envdoctor.system.host import LocalHost


def accepted(path: str) -> list[str]:
    """Return what the audit finds wrong with a lock, errors alone, a line each; empty if it may be used."""
    try:
        report = workflow.audit([path], workflow.Asked(), LocalHost())
    except LockError as error:
        return [f"line {error.line}: {error.problem}" if error.line else error.problem]
    found = [(rule, finding) for rule, finding in report.findings() if finding.severity == Severity.ERROR]
    unjudged = [f"{outcome.probe} crashed: {outcome.crashed}" for outcome in report.outcomes if outcome.crashed]
    return [
        *(f"line {finding.evidence.get('line', 0)}: {rule}: {finding.message}" for rule, finding in found),
        *unjudged,
    ]
