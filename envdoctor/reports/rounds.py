"""What `envdoctor health` saw, for people: each environment's verdict, what has changed, what was not looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from envdoctor.reports.layout import Style

INDENT = " " * 10
SHOWN = 20
"""Changes of one environment that are printed."""
ADVICE = {
    ("job environment", "unknown"): " (name its variables in the configuration, or let its owner run `envdoctor check`)"
}
_WORDS = {"sick": "SICK", "warnings": "WARNINGS", "healthy": "HEALTHY"}
_COLOURS = {"sick": "31;1", "warnings": "33;1", "healthy": "32;1"}


def render(document: Mapping[str, Any], style: Style | None = None) -> str:
    """Return it as text."""
    style = style or Style()
    lines = [style.wrap(_head(document), "", "  ")]
    lines += [style.wrap(said, "  ", "    ") for said in document["said"]]
    for visit in document["targets"]:
        lines += _visit(visit, style)
    return "\n".join(lines) + "\n"


def _head(document: Mapping[str, Any]) -> str:
    visits = document["targets"]
    if not visits:
        return f"{document['host']}: {document['note'] or 'no environment to look at'}"
    looked = [visit for visit in visits if visit["report"]]
    seconds = f"{document['seconds']:.1f} s"
    note = f"; {document['note']}" if document["note"] else ""
    whole = f"{len(looked)} of {len(visits)}" if len(looked) < len(visits) else f"{len(visits)}"
    return f"{document['host']}: {whole} environment{'s' if len(visits) > 1 else ''} looked at in {seconds}{note}"


def _visit(visit: Mapping[str, Any], style: Style) -> Iterator[str]:
    verdict = visit["verdict"]
    word = _WORDS.get(verdict, "NOT DONE" if visit["visited"] else "NOT YET")
    tag = style.paint(f"{word:10}", _COLOURS.get(verdict, "36"))
    owner = f" ({visit['owner']})" if visit["owner"] else ""
    said = ": ".join(filter(None, (f"{visit['target']}{owner}", visit["reason"] or _counts(visit["report"]))))
    yield tag + style.wrap(said, INDENT, INDENT)[len(INDENT) :]
    changes = [change for change in visit["changes"] if not (visit["first"] and change["severity"] == "note")]
    for change in changes[:SHOWN]:
        text = f"{change['kind']}: {_severity(change)}{change['message']}  [{change['probe']}]"
        yield style.wrap(text, INDENT, INDENT + "  ")
    if len(changes) > SHOWN:
        yield f"{INDENT}and {len(changes) - SHOWN} more changes (all of them: --format json)"
    for key in ("job environment", "interpreter", "state") if visit["report"] else ():
        if key in visit["report"]["seen"]:
            seen = visit["report"]["seen"][key]
            yield style.wrap(f"{key}: {seen}{ADVICE.get((key, seen), '')}", INDENT, INDENT + "  ")
    for fact, reason in _lost(visit["report"] or {}):
        yield style.wrap(f"not judged: {fact}: {reason}", INDENT, INDENT + "  ")


def _severity(change: Mapping[str, Any]) -> str:
    """Say what a finding is now; one that is gone is nothing any more."""
    return "" if change["kind"] == "healed" else f"{change['severity']}: "


def _counts(report: Mapping[str, Any] | None) -> str:
    counted = Counter(finding["severity"] for finding in report["findings"]) if report else Counter[str]()
    words = [word for word in ("error", "warning") if counted[word]]
    return ", ".join(f"{counted[word]} {word}{'s' if counted[word] > 1 else ''}" for word in words)


def _lost(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from ((item["fact"], item["reason"]) for item in report.get("failed", ()))
    yield from ((item["probe"], item["error"]) for item in report.get("crashed", ()))
