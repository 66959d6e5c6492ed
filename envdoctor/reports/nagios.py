"""A round as a monitoring plug-in says it: one line, performance data behind a bar, a status of 0 to 3.

Monitoring Plugins Development Guidelines, "Plugin Output for Nagios" and "Performance data":
`'label'=value[UOM];[warn];[crit];[min];[max]`, where `0` as a threshold means that anything above 0 is too much.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

NAMES = ("OK", "WARNING", "CRITICAL", "UNKNOWN")
OK, WARNING, CRITICAL, UNKNOWN = range(4)
WORST = (CRITICAL, WARNING, UNKNOWN, OK)
"""What decides for several, worst first: as the Monitoring Plugins order them (max_state_alt)."""
_VERDICTS = {"healthy": OK, "warnings": WARNING, "sick": CRITICAL}
_WORDS = {OK: "healthy", WARNING: "with warnings", CRITICAL: "sick", UNKNOWN: "not judged"}
LONGEST = 512
"""Characters of the text: with the performance data it fits into 1,024 bytes (NRPE 2, MAX_PACKETBUFFER_LENGTH)."""


def status(document: Mapping[str, Any]) -> int:
    """Return the status of the worst environment; where none was looked at, nothing is known."""
    states = {_state(visit) for visit in document["targets"]}
    return next((state for state in WORST if state in states), UNKNOWN)


def render(document: Mapping[str, Any]) -> str:
    """Return the line, with its end."""
    return _line(status(document), _text(document), _performance(document))


def failed(problem: str) -> str:
    """Return the line of a run that could not be made; its status is UNKNOWN."""
    return _line(UNKNOWN, problem, ())


def _line(state: int, text: str, performance: Sequence[str]) -> str:
    text = " ".join(text.split()).replace("|", "/")
    cut = f"{text[: LONGEST - 4]} ..." if len(text) > LONGEST else text
    return " | ".join(filter(None, (f"ENVDOCTOR {NAMES[state]}: {cut}", " ".join(performance)))) + "\n"


def _state(visit: Mapping[str, Any]) -> int:
    return _VERDICTS.get(visit["verdict"], UNKNOWN)


def _text(document: Mapping[str, Any]) -> str:
    visits = document["targets"]
    if not visits:
        return str(document["note"] or "no environment to look at")
    counts = Counter(_state(visit) for visit in visits)
    worst = status(document)
    if len(visits) == 1:
        return _one(visits[0])
    counted = ", ".join(f"{counts[state]} {_WORDS[state]}" for state in WORST if counts[state])
    named = [_one(visit) for visit in visits if _state(visit) == worst and worst != OK]
    return ". ".join((f"{len(visits)} environments: {counted}", *named))


def _one(visit: Mapping[str, Any]) -> str:
    report = visit["report"]
    findings = report["findings"] if report else ()
    worst = [item for item in findings if item["severity"] in ("error", "warning")][:1]
    others = sum(item["severity"] in ("error", "warning") for item in findings) - 1
    parts = [f"{item['message']} [{item['probe']}]" for item in worst]
    parts += [f"and {others} more"] if others > 0 else []
    said = visit["reason"] or " ".join(parts) or _WORDS[_state(visit)]
    return f"{visit['target']}: {said}"


def _performance(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what does not change its labels with the configuration; what is not known is not in it."""
    visits = document["targets"]
    reports = [visit["report"] for visit in visits if visit["report"]]
    severities = Counter(item["severity"] for report in reports for item in report["findings"])
    states = Counter(_state(visit) for visit in visits)
    most = len(visits)
    return tuple(
        [
            f"environments={most};;;0",
            f"sick={states[CRITICAL]};;0;0;{most}",
            f"warnings={states[WARNING]};0;;0;{most}",
            f"unjudged={states[UNKNOWN]};;;0;{most}",
            *_findings(severities if reports else None),
            f"time={document['seconds']:.3f}s;;;0",
        ]
        if visits
        else []
    )


def _findings(severities: Counter[str] | None) -> Iterator[str]:
    for severity in ("error", "warning", "note") if severities is not None else ():
        yield f"{severity}_findings={severities[severity] if severities else 0};;;0"
