"""Findings about lines of locks, for people: file by file, line by line, as compilers and linters print them.

In an audit each finding of the area `lock` that names a file is one. In a check only those with a line are; what the
check sums up stands among the other findings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from envdoctor.model import Finding, Report, Severity
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
        Placed(place, probe, finding)
        for probe, finding in report.findings()
        if (place := _place(report, probe, finding)) is not None
    ]
    rest = (
        replace(o, findings=tuple(finding for finding in o.findings if _place(report, o.probe, finding) is None))
        for o in report.outcomes
    )
    return placed, replace(report, outcomes=tuple(rest))


def _place(report: Report, probe: str, finding: Finding) -> Place | None:
    place = place_of(finding) if probe.startswith(AREA) else None
    return place if place and (place.line or report.target is None) else None


def audited(report: Report) -> Iterator[str]:
    """Say which locks were audited, and for what, where the run was about locks and no target."""
    if report.target is None and "locks" in report.seen:
        pins = f": {report.seen['pins']:,} pins" if "pins" in report.seen else ""
        yield f"audited {printable(str(report.seen['locks']))}{pins}"
        if "judged for" in report.seen:
            yield f"judged for {printable(str(report.seen['judged for']))}"


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
    yield from (style.wrap(line, INDENT, INDENT + "  ") for line in backing(_with_lines(finding)))


def _with_lines(finding: Finding) -> Finding:
    """Return a finding about many lines with their numbers as text, to be listed; one about a line says it already."""
    lines = finding.evidence.get("lines")
    if not isinstance(lines, list):
        return finding
    told = {"lines": [str(line) for line in lines] if len(lines) > 1 else []}
    return replace(finding, evidence={**finding.evidence, **told})


def _cut(line: str, style: Style) -> str:
    """Cut a line of a file to the width: a digest or an address alone may fill three."""
    width = max(style.width or len(line), 40)
    return line if len(line) <= width else f"{line[: width - 3]}..."
