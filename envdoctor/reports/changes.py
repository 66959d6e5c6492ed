"""What is different between two snapshots, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from envdoctor.reports.installs import at, some
from envdoctor.reports.layout import INDENT, Style

COLOURS = {"grave": "31;1", "notable": "33;1", "detail": "36"}
FOLDED = 3
"""Details of one kind from which on they are told in one line."""
SHOWN = 20
"""Events of one area and weight that are printed one by one."""
MORE = "(all of them: --format json)"


def render(document: Mapping[str, Any], style: Style | None = None) -> str:
    """Return the comparison as text."""
    style = style or Style()
    parts = ["\n".join(_head(document, style)), "\n".join(_events(document["events"], style))]
    parts.append("\n".join(_gaps(document["not_comparable"], style)))
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(document: Mapping[str, Any], style: Style) -> Iterator[str]:
    events = document["events"]
    counts = [(word, sum(event["weight"] == word for event in events)) for word in COLOURS]
    said = ", ".join(f"{count:,} {word}" for word, count in counts if count)
    if events:
        yield f"{style.paint('CHANGED', '33;1')}  {said}"
    elif document["not_comparable"]:
        yield f"{style.paint('NO CHANGE', '32;1')}  in what could be compared"
    else:
        yield style.paint("NO CHANGE", "32;1")
    for word in ("before", "after"):
        yield style.wrap(_seen(document[word]), f"{word:8}", " " * 10)
    for note in document["notes"]:
        yield style.wrap(note, "note    ", " " * 10)


def _seen(seen: Mapping[str, Any]) -> str:
    run = f", run {seen['run']}" if seen["run"] is not None else ""
    asked = {"healthy": ", the last healthy one", "now": ", now"}.get(seen["asked"], "")
    name = f" ({seen['asked']})" if seen["source"] == "file" else ""
    return f"{seen['target']} on {seen['host']}, {at(seen['taken_at'])}{run}{asked}{name}"


def _events(events: Sequence[Mapping[str, Any]], style: Style) -> Iterator[str]:
    for (weight, area), group in groupby(events, key=lambda event: (event["weight"], event["area"])):
        same = list(group)
        if weight == "detail":
            yield from _details(area, same, style)
            continue
        for event in same[:SHOWN]:
            yield _line(weight, area, event["sentence"], style)
        if len(same) > SHOWN:
            yield f"{INDENT}and {len(same) - SHOWN:,} more of {area} {MORE}"


def _details(area: str, events: Sequence[Mapping[str, Any]], style: Style) -> Iterator[str]:
    """Tell many details of one kind in one line."""
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for event in events:
        kinds.setdefault(event["kind"], []).append(event)
    for kind, same in kinds.items():
        if len(same) <= FOLDED:
            for event in same:
                yield _line("detail", area, event["sentence"], style)
        else:
            yield _line("detail", area, f"{len(same):,} {kind}: {some([_short(event) for event in same])}", style)


def _short(event: Mapping[str, Any]) -> str:
    subject, before, after = (event[key] for key in ("subject", "before", "after"))
    step = f"{before} -> {after}" if event["kind"] == "changed" else after or before or ""
    return f"{subject} {step}".rstrip()


def _line(weight: str, area: str, text: str, style: Style) -> str:
    word = weight.upper() if weight == "grave" else weight
    tag = style.paint(f"{word:8}", COLOURS[weight])
    return tag + style.wrap(f"{text}  [{area}]", INDENT, INDENT)[len(INDENT) - 1 :]


def _gaps(gaps: Sequence[Mapping[str, Any]], style: Style) -> Iterator[str]:
    """Say what nothing follows of, each reason once."""
    reasons: dict[tuple[str, str, bool], list[str]] = {}
    for gap in gaps:
        reasons.setdefault((gap["side"], gap["reason"], gap["failed"]), []).append(gap["subject"])
    for (side, reason, failed), subjects in reasons.items():
        where = "" if side == "both" else f"{side}: "
        word = "FAILED   " if failed else "unknown  "
        yield style.wrap(f"not comparable: {some(subjects)}: {where}{reason}", word, INDENT)
