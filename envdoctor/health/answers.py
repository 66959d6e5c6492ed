"""What a child that looks at an environment answers, and how it is read: as data that anybody may have written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from envdoctor import recorded
from envdoctor.codec import from_json, to_json
from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.model import Report
from envdoctor.printable import clean
from envdoctor.recorded import Recorded


@dataclass(frozen=True, slots=True)
class Answer:
    """What one look came to."""

    report: Report | None = None
    snapshot: Recorded | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    """Why there is no report."""


def refusal(reason: str) -> bytes:
    """Return an answer that says why there is none."""
    return json.dumps({"reason": reason}).encode() + b"\n"


def answer(report: Report, snapshot: Recorded, seconds: Mapping[str, float]) -> bytes:
    """Return the answer: a line with the report, then the snapshot."""
    head = {"report": to_json(report), "seconds": dict(seconds)}
    return json.dumps(head).encode() + b"\n" + recorded.render(snapshot).encode()


def read(data: bytes) -> Answer:
    """Read it, every string of the report made safe to print. Raises EnvDoctorError if it is no answer."""
    head, _, rest = data.partition(b"\n")
    try:
        found = clean(json.loads(head, parse_constant=_no_number))
        if not isinstance(found, dict):
            raise ValueError("no object")  # noqa: TRY004 - one way out
        if isinstance(found.get("reason"), str):
            return Answer(reason=found["reason"])
        return _whole(found, rest)
    except (ValueError, RecursionError, KeyError, UsageError) as error:
        raise EnvDoctorError(f"its answer is none: {str(error)[:160]}") from error


def _whole(found: Mapping[str, Any], rest: bytes) -> Answer:
    report: Report = from_json(Report, found["report"])
    if report.taken_at.tzinfo is None:
        raise ValueError("taken_at: has no zone")
    seconds: Mapping[str, float] = from_json(Mapping[str, float], found["seconds"])
    return Answer(report, recorded.parse(rest, "the answer"), seconds)


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")
