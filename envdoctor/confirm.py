"""A log's known failures and the probes' findings, brought together: what the log shows has really happened. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from envdoctor.facts.job_log import JobLog
from envdoctor.model import Finding, Outcome, Severity, Unavailable

UNEXPLAINED = "log/known-failure"
"""The probe that reports what the log shows and no other probe found; its subjects are ids of signatures."""


def confirmed(finding: Finding, probe: str, log: JobLog | Unavailable) -> Finding:
    """Return a finding as it is with the log at hand.

    If the log shows what this probe judges, the finding says where, and is as severe as the signature, never less than
    it was. The first line that shows it is named.
    """
    match = None if isinstance(log, Unavailable) else next((m for m in log.matches if probe in m.confirms), None)
    if match is None or isinstance(log, Unavailable):
        return finding
    shown = {"file": log.path, "line": match.line, "text": match.text, "signature": match.id}
    return replace(
        finding,
        severity=max(finding.severity, Severity[match.severity.upper()]),
        message=f"{finding.message}; the log shows it ({log.place(match)})",
        evidence={**finding.evidence, "log": shown},
    )


def explained(outcomes: Sequence[Outcome], log: JobLog | Unavailable) -> tuple[Outcome, ...]:
    """Return the outcomes without those reports of the log alone that another probe's finding explains.

    A muted finding explains nothing: that it really happened is news.
    """
    if isinstance(log, Unavailable):
        return tuple(outcomes)
    fired = {outcome.probe for outcome in outcomes if outcome.findings}
    known = {match.id for match in log.matches if fired.intersection(match.confirms)}
    return tuple(_without(outcome, known) if outcome.probe == UNEXPLAINED else outcome for outcome in outcomes)


def _without(outcome: Outcome, subjects: set[str]) -> Outcome:
    return replace(outcome, findings=tuple(f for f in outcome.findings if f.subject not in subjects))
