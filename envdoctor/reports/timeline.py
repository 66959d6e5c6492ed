"""The history of an environment for people: what changed its purpose on top, then everything that is dated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from envdoctor.reports.installs import HEADED, at, day, details, headline, some
from envdoctor.reports.layout import Style

INDENT = " " * 4
EVENTS = 60
"""Events that are printed; the oldest and the youngest of more."""
CONCLUSIONS = 3
GONE = 10
"""What is gone that is printed one by one."""


def render(document: Mapping[str, Any], style: Style | None = None) -> str:
    """Return the history as text."""
    style = style or Style()
    parts = ["\n".join(_head(document, style))]
    parts += ["\n".join(_event(event, style)) for event in _shown(document)]
    parts += [part for part in ("\n".join(_gone(document, style)), "\n".join(_doubts(document, style))) if part]
    return "\n\n".join(parts) + "\n"


def _head(document: Mapping[str, Any], style: Style) -> Iterator[str]:
    target = document["target"]
    turns = [event for event in document["events"] if event["kind"] == "installed" and event["repurposed"]]
    for event in turns[:CONCLUSIONS]:
        text = style.wrap(f"repurposed on {day(event['at'])}: {headline(event)}", "", "  ")
        yield text.replace("repurposed", style.paint("repurposed", "31;1"), 1)
    if len(turns) > CONCLUSIONS:
        yield f"  and {len(turns) - CONCLUSIONS} times more, below"
    python = f": Python {target['python']}" if target["python"] else ""
    counted = f", {target['packages']} packages" if target["packages"] is not None else ""
    yield style.wrap(f"{target['prefix']}{python}{counted}", "", "  ")
    yield style.wrap(f"compared with {target['lock']}" if target["lock"] else "no lock", "", "  ")
    if document["snapshot"]:
        yield style.wrap(f"snapshot {document['snapshot']}, taken on {document['host']}", "", "  ")


def _shown(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    events = document["events"]
    if len(events) <= EVENTS:
        yield from events
        return
    yield from events[: EVENTS // 2]
    yield {"kind": "cut", "count": len(events) - EVENTS}
    yield from events[-EVENTS // 2 :]


def _event(event: Mapping[str, Any], style: Style) -> Iterator[str]:
    if event["kind"] == "cut":
        yield f"... and {event['count']} events more (all of them: --format json)"
        return
    yield style.paint(at(event["at"]), "1")
    if event["kind"] == "installed":
        yield style.wrap(headline(event), INDENT, INDENT + "  ")
        for word, text in details(event):
            yield style.wrap(f"{word}: {text}", INDENT + "- ", INDENT + "  ")
        return
    placed = f"{event['subject']} " if event["kind"] in ("startup", "changed") else ""
    yield style.wrap(f"{placed}{event['what']}", INDENT, INDENT + "  ")
    if event["paths"]:
        more = f" and {event['count'] - len(event['paths'])} more" if event["count"] > len(event["paths"]) else ""
        yield style.wrap(f"{some(event['paths'])}{more}", INDENT + "- ", INDENT + "  ")


def _gone(document: Mapping[str, Any], style: Style) -> Iterator[str]:
    recorded = [item for item in document["gone"] if item["recorded"]]
    for item in recorded[:GONE]:
        named = f"{item['name']} {item['version']}" if item["version"] else item["name"]
        yield style.wrap(f"{named}: {some(item['evidence'], HEADED)}", "gone: ", "  ")
    if len(recorded) > GONE:
        yield f"gone: and {len(recorded) - GONE} more (all of them: --format json)"
    never = [item["name"] for item in document["gone"] if not item["recorded"]]
    if never:
        yield style.wrap(f"required, and gone or never installed: {some(never)}", "", "  ")


def _doubts(document: Mapping[str, Any], style: Style) -> Iterator[str]:
    if document["timeless"]:
        yield style.wrap(f"unknown when: {document['timeless']}: {some(document['undated'])}", "", "  ")
    for sentence in document["unknown"]:
        yield style.wrap(f"not told: {sentence}", "", "  ")
    for fact, reason in document["failed"].items():
        yield style.wrap(f"FAILED {fact}: {reason}", "", "  ")
