"""The report for programs: schema 1, one object. Keys are only ever added."""

from __future__ import annotations

import json
from typing import Any

from envdoctor import __version__
from envdoctor.model import Finding, Report, Trial
from envdoctor.printable import printable

SCHEMA = 1


def render(report: Report) -> str:
    """Return the report as JSON text."""
    return json.dumps(as_dict(report), indent=2, ensure_ascii=True) + "\n"


def as_dict(report: Report) -> dict[str, Any]:
    """Return the report as JSON values."""
    target = report.target
    outcomes = report.outcomes
    return {
        "schema": SCHEMA,
        "envdoctor": __version__,
        "taken_at": report.taken_at.replace(microsecond=0).isoformat().replace("+00:00", "Z"),
        "host": report.host,
        "target": target
        and {"prefix": _clean(target.prefix), "python": _clean(report.python), "lock": _clean(target.lock)},
        "config": _clean(report.config),
        "verdict": report.verdict,
        "findings": [_finding(probe, finding) for probe, finding in report.findings()],
        "passed": [o.probe for o in outcomes if not (o.findings or o.muted or o.skipped or o.crashed)],
        "skipped": [
            {"probe": o.probe, "reason": o.skipped.reason, "failed": o.skipped.failed} for o in outcomes if o.skipped
        ],
        "crashed": [{"probe": o.probe, "error": o.crashed} for o in outcomes if o.crashed],
        "failed": [{"fact": fact, "reason": _clean(reason)} for fact, reason in report.failed.items()],
        "muted": [_finding(o.probe, finding) for o in outcomes for finding in o.muted],
        "seen": {key: _clean(value) for key, value in report.seen.items()},
        "seconds": round(report.seconds, 3),
    } | ({"trials": [_trial(trial) for trial in report.trials]} if report.trials else {})


def _clean(value: str | int | None) -> str | int | None:
    return printable(value) if isinstance(value, str) else value


def _finding(probe: str, finding: Finding) -> dict[str, Any]:
    return {
        "probe": probe,
        "severity": finding.severity.label,
        "subject": finding.subject,
        "message": finding.message,
        "evidence": finding.evidence,
        "remedy": list(finding.remedy),
    }


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "step": trial.step,
        "device": _clean(trial.device),
        "state": trial.state,
        "seconds": round(trial.seconds, 3),
        "said": _clean(trial.said),
    }
