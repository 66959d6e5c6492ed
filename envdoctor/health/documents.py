"""A round as JSON values: schema 1, one object. Keys are only ever added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envdoctor import __version__
from envdoctor.health.visits import Change, Round, Visit
from envdoctor.printable import clean
from envdoctor.reports import json

SCHEMA = 1


def document(found: Round) -> Mapping[str, Any]:
    """Return everything that a round has to say, safe to print."""
    return {
        "schema": SCHEMA,
        "envdoctor": __version__,
        "taken_at": _moment(found.began),
        "host": found.host,
        "status": found.status,
        "note": found.note,
        "said": [*found.said, *found.untold],
        "changed": found.changed,
        "targets": [_visit(visit) for visit in found.visits],
        "seconds": round(found.seconds, 3),
    }


def _visit(visit: Visit) -> dict[str, Any]:
    place: dict[str, Any] = clean({"target": visit.target, "owner": visit.owner, "reason": visit.reason})
    return place | {
        "uid": visit.uid if visit.uid >= 0 else None,
        "at": _moment(visit.at),
        "visited": visit.visited,
        "first": visit.first,
        "verdict": visit.report.verdict if visit.report else visit.last,
        "status": visit.status,
        "changes": [_change(change) for change in visit.changes],
        "fact_seconds": {fact: round(seconds, 3) for fact, seconds in sorted(visit.seconds.items())},
        "report": json.as_dict(visit.report) if visit.report else None,
    }


def _change(change: Change) -> dict[str, Any]:
    said: dict[str, Any] = clean({"probe": change.probe, "subject": change.subject, "message": change.message})
    before = change.before.label if change.before is not None else None
    return {"kind": change.kind, **said, "severity": change.severity.label, "before": before}


def _moment(moment: Any) -> str:  # noqa: ANN401 - a datetime
    text: str = moment.replace(microsecond=0).isoformat().replace("+00:00", "Z")
    return text
