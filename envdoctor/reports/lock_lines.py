"""Findings about lines of locks, for people: file by file, line by line, as compilers and linters print them.

A finding of the area `lock` is one if its evidence has `file` and `line` (0 where no line is known). Others of the area
stand alone, such as the summary that a check gives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from envdoctor.model import Finding, Outcome, Report, Severity
from envdoctor.printable import printable
from envdoctor.reports.layout import BLOCKS, INDENT, NOTES, Style, backing, steps, tagged
from envdoctor.reports.places import Place, place_of

AREA = "lock/"


@dataclass(frozen=True, slots=True)
class Placed:
    """A finding, what found it, and where."""

    place: Place
    probe: str
    finding: Finding


def divided(report: Report) -> tuple[list[Placed], Report]:
    """Return the findings about lines of locks, and the report without them."""
    placed = [
        Placed(place, probe, finding) for probe, finding in report.findings() if (place := _line_of(probe, finding))
    ]
    rest = tuple(replace(outcome, findings=tuple(_elsewhere(outcome))) for outcome in report.outcomes)
    return placed, replace(report, outcomes=rest)


def _elsewhere(outcome: Outcome) -> Iterator[Finding]:
    return (finding for finding in outcome.findings if not _line_of(outcome.probe, finding))


def _line_of(probe: str, finding: Finding) -> Place | None:
    return place_of(finding) if probe.startswith(AREA) and "line" in finding.evidence else None


def audited(report: Report) -> Iterator[str]:
    """Say which locks were audited, and for what, where the run was about locks and no target."""
    if report.target is None and "locks" in report.seen:
        pins = f": {report.seen['pins']:,} pins" if "pins" in report.seen else ""
        yield f"audited {printable(str(report.seen['locks']))}{pins}"
        if "environments" in report.seen:
            yield f"judged for {printable(str(report.seen['environments']))}"


def paragraphs(found: Iterable[Placed], style: Style) -> Iterator[tuple[Severity, str]]:
    """Yield a paragraph a file, with its worst severity."""
    files: dict[str, list[Placed]] = {}
    for item in found:
        files.setdefault(item.place.file, []).append(item)
    for items in files.values():
        worst = max(item.finding.severity for item in items)
        yield worst, "\n".join(_paragraph(sorted(items, key=_order), style))


def _order(item: Placed) -> tuple[int, int, int, str]:
    return item.place.line, item.place.column, -item.finding.severity, item.probe


def _paragraph(items: Sequence[Placed], style: Style) -> Iterator[str]:
    """Print the findings of one file, a step once for all that need it, and not a thousand of one rule."""
    printed: Counter[tuple[str, Severity]] = Counter()
    told: set[str] = set()
    for item in items:
        key = item.probe, item.finding.severity
        printed[key] += 1
        if printed[key] <= _limit(item.finding.severity):
            yield from _finding(item, style)
            yield from steps((step for step in item.finding.remedy if step not in told), style)
            told.update(item.finding.remedy)
    for (probe, severity), count in printed.items():
        if count > _limit(severity):
            yield f"{INDENT}and {count - _limit(severity)} more of {probe} (all of them: --format json)"
    rules = list(dict.fromkeys(item.probe for item in items))
    yield style.wrap(
        f"see: envdoctor explain {rules[0]}{' (each rule has an entry)' if len(rules) > 1 else ''}", INDENT, INDENT
    )


def _limit(severity: Severity) -> int:
    return NOTES if severity == Severity.NOTE else BLOCKS


def _finding(item: Placed, style: Style) -> Iterator[str]:
    place, finding = item.place, item.finding
    yield tagged(finding.severity, f"{place}  {item.probe}  {finding.message}", style)
    if place.text and place.text not in finding.message:
        yield _cut(f"{INDENT}| {place.text}", style)
    yield from (style.wrap(line, INDENT, INDENT + "  ") for line in backing(finding))


def _cut(line: str, style: Style) -> str:
    """Cut a line of a file to the width: a digest or an address alone may fill three."""
    width = max(style.width or len(line), 40)
    return line if len(line) <= width else f"{line[: width - 3]}..."
