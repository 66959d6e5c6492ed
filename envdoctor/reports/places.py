"""Where a finding about a file points: `file:line:column`, which editors, terminals and code hosts understand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from envdoctor.model import Finding, Report


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A place in a file, as a finding's evidence names it. Places sort as a reader meets them."""

    file: str
    """As the caller named it."""
    line: int = 0
    """1-based; 0 if unknown."""
    column: int = 0
    """1-based, in characters; 0 if unknown."""
    text: str = ""
    """What stands there and offends, secrets redacted; "" if unknown."""

    def __str__(self) -> str:
        """Return `file:line:column`, as far as it is known."""
        known = [self.line, self.column] if self.line and self.column else [self.line] if self.line else []
        return ":".join([self.file, *map(str, known)])


def place_of(finding: Finding) -> Place | None:
    """Return the place that the keys `file`, `line`, `column` and `text` of the evidence name, None without a file."""
    file, text = finding.evidence.get("file"), finding.evidence.get("text")
    if not isinstance(file, str) or not file:
        return None
    line, column = (_number(finding.evidence.get(key)) for key in ("line", "column"))
    return Place(file, line, column, text if isinstance(text, str) else "")


def stand_in(finding: Finding, report: Report) -> Place | None:
    """Return what stands for the place of a finding that is about no line of a file, None if the report knows no path.

    That is the path at fault; else the lock, which says how it should be; else the environment.
    """
    target = report.target
    paths = (finding.subject, finding.evidence.get("path"), target and target.lock, target and target.prefix)
    return next((Place(path) for path in paths if isinstance(path, str) and path.startswith("/")), None)


def others_of(finding: Finding, place: Place) -> Iterator[Place]:
    """Yield the further places that the key `lines` names: a number in the same file, or `file:line`."""
    lines = finding.evidence.get("lines")
    for item in lines if isinstance(lines, list) else ():
        file, _, line = item.rpartition(":") if isinstance(item, str) else (place.file, "", item)
        number = int(line) if isinstance(line, str) and line.isdecimal() else _number(line)
        if file and number and (file, number) != (place.file, place.line):
            yield Place(file, number)


def _number(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
