"""What a child that looks at an environment answers, and how it is read: as data that anybody may have written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from envdoctor import recorded
from envdoctor.codec import from_json, to_json
from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.model import Report
from envdoctor.printable import clean
from envdoctor.recorded import Recorded

HEAD = 4 << 20
"""Bytes of the line with the report: making every string of it safe to print takes about a second for each MiB."""
REASON = 1000
"""Characters of a reason: it goes into a line of a mail."""
OUTCOMES = 1000
"""Probes that a report may speak of."""
LONGEST = 86400.0
"""Seconds that anything may have taken."""
_EARLIEST, _LATEST = datetime(1970, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
"""Moments between these can be told in every zone."""
_PROBE = re.compile(r"[A-Za-z0-9_.-]{1,60}/[A-Za-z0-9_./-]{1,100}")


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
        if len(head) > HEAD:
            raise ValueError(f"a report of {len(head):,} bytes, more than any should have ({HEAD:,})")
        found = clean(json.loads(head, parse_constant=_no_number))
        if not isinstance(found, dict):
            raise ValueError("no object")  # noqa: TRY004 - one way out
        if isinstance(found.get("reason"), str):
            return Answer(reason=found["reason"][:REASON])
        return _whole(found, rest)
    except (ValueError, RecursionError, KeyError, UsageError) as error:
        raise EnvDoctorError(f"its answer is none: {str(error)[:160]}") from error


def _whole(found: Mapping[str, Any], rest: bytes) -> Answer:
    report: Report = from_json(Report, found["report"])
    seconds: Mapping[str, float] = from_json(Mapping[str, float], found["seconds"])
    snapshot = recorded.parse(rest, "the answer")
    _sound(report, snapshot, seconds)
    return Answer(report, snapshot, seconds)


def _sound(report: Report, snapshot: Recorded, seconds: Mapping[str, float]) -> None:
    """Raise ValueError for what no look comes to, and what one row of would spoil the history of everybody."""
    if report.taken_at.tzinfo is None:
        raise ValueError("taken_at: has no zone")
    if not all(_EARLIEST <= moment <= _LATEST for moment in (report.taken_at, snapshot.head.taken_at)):
        raise ValueError("taken_at: no time of a clock")
    if not all(0 <= taken <= LONGEST for taken in (report.seconds, *seconds.values())):
        raise ValueError("seconds: nothing takes that long")
    if len(report.outcomes) > OUTCOMES or not all(_PROBE.fullmatch(outcome.probe) for outcome in report.outcomes):
        raise ValueError("outcomes: no probes of ours")


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")
