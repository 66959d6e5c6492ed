"""What the state remembers, for people: verdicts over time, then each finding from its appearance to its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from envdoctor.model import Severity
from envdoctor.reports.installs import at, day, some
from envdoctor.reports.layout import INDENT, Style, tagged

SPANS = 30
"""Lines of verdicts that are printed, the youngest."""
FINDINGS = 40
"""Findings that are printed of one environment: what is open, and the youngest of what is gone."""
LACKING = 4
"""Names of what was not judged that a line lists."""
VERDICTS = {"sick": "31;1", "warnings": "33;1", "healthy": "32;1", None: "36"}
MORE = "(all of them: --format json)"


def render(document: Mapping[str, Any], style: Style | None = None) -> str:
    """Return the history as text."""
    style = style or Style()
    parts = ["\n".join(_environment(each, document["asked_at"], style)) for each in document["environments"]]
    return "\n\n".join(parts or ["\n".join(_nothing(document, style))]) + "\n"


def _nothing(document: Mapping[str, Any], style: Style) -> Iterator[str]:
    about = f"of {document['target']} " if document["target"] else ""
    yield style.wrap(f"no run {about}is remembered on {document['host']}, in {document['state']}", "", "  ")
    yield style.wrap("`envdoctor health` looks after environments and remembers what it saw", "", "  ")
    if document["others"]:
        others = "another environment is" if document["others"] == 1 else f"{document['others']} others are"
        yield style.wrap(f"{others} remembered: envdoctor history --all", "", "  ")


def _environment(found: Mapping[str, Any], now: str, style: Style) -> Iterator[str]:
    spans = found["spans"]
    owner = f" of {found['owner']}" if found["owner"] else ""
    whose = f"{found['target']}{owner} on {found['host']}"
    if not spans:
        yield style.wrap(f"{whose}: not looked at in this time", "", "  ")
    else:
        yield style.wrap(f"{whose}: {_verdict(spans[-1])}, seen last on {at(spans[-1]['to'])}", "", "  ")
    if spans and spans[-1]["verdict"] != "healthy":
        healthy = f"healthy last on {day(found['last_healthy'])}" if found["last_healthy"] else "never seen healthy"
        yield style.wrap(healthy, "", "  ")
    if len(spans) > SPANS:
        yield f"  ... {len(spans) - SPANS} earlier {MORE}"
    digits = max((len(f"{span['runs']:,}") for span in spans[-SPANS:]), default=0)
    for span in spans[-SPANS:]:
        yield from _span(span, digits, style)
    yield from _findings(found["findings"], now, style)


def _verdict(span: Mapping[str, Any]) -> str:
    return span["verdict"] or "not judged"


def _span(span: Mapping[str, Any], digits: int, style: Style) -> Iterator[str]:
    counts = [_count(span[key], key[:-1]) for key in ("errors", "warnings") if span[key]]
    said = f": {', '.join(counts) or span['reason']}" if counts or span["reason"] else ""
    text = f"{_count(span['runs'], 'check', digits)}, {_period(span['from'], span['to'])}{said}"
    word = f"{_verdict(span):10}"
    yield style.wrap(text, f"  {word} ", " " * 13).replace(word, style.paint(word, VERDICTS[span["verdict"]]), 1)
    if span["verdict"] == "warnings" and not counts and span["lacking"]:
        lost = [item for item in span["lacking"] if not item.endswith(" skipped")] or span["lacking"]
        yield style.wrap(f"not all could be judged: {some(lost, LACKING)}", " " * 13, " " * 13)


def _findings(findings: Sequence[Mapping[str, Any]], now: str, style: Style) -> Iterator[str]:
    is_open = [finding for finding in findings if finding["gone"] is None]
    for title, part in (("open", is_open), ("gone", findings[len(is_open) :][: max(0, FINDINGS - len(is_open))])):
        if part:
            yield ""
            yield style.paint(title, "1")
        for finding in part[:FINDINGS]:
            yield tagged(Severity[finding["severity"].upper()], f"{finding['message']}  [{finding['probe']}]", style)
            yield style.wrap(_episode(finding, now), INDENT, INDENT)
    if len(findings) > FINDINGS:
        yield f"... and {len(findings) - FINDINGS} more {MORE}"


def _episode(finding: Mapping[str, Any], now: str) -> str:
    if finding["gone"] is None:
        long = _long(finding["appeared"], now)
        doubt = f"; unknown since {day(finding['unknown'])}: not looked at again" if finding["unknown"] else ""
        return f"since {day(finding['appeared'])} ({long}){doubt}"
    return f"{_period(finding['appeared'], finding['gone'])}{'; muted since then' if finding['muted'] else ''}"


def _period(begin: str, end: str) -> str:
    """Say from when to when, and how long that is: `3 June 2026 at 09:00 to 14:10 (5 h 10 min)`."""
    if begin == end:
        return day(begin)
    first, last = day(begin), day(end)
    if first == last:
        return f"{first} ({_long(begin, end)})"
    same, _, hour = last.partition(" at ")
    return f"{first} to {hour if first.startswith(f'{same} at ') else last} ({_long(begin, end)})"


def _long(begin: str, end: str) -> str:
    return lasting((datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds())


def lasting(seconds: float) -> str:
    """Return a duration in its two largest units: `3 d 5 h`."""
    parts: list[str] = []
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        count, seconds = divmod(int(seconds), size)
        if count or parts:
            parts.append(f"{count} {unit}" if count else "")
    return " ".join(filter(None, parts[:2])) or "0 s"


def _count(number: int, noun: str, digits: int = 0) -> str:
    return f"{number:{digits},} {noun}{'' if number == 1 else 's'}"
