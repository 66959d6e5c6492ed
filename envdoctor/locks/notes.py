"""What is met while the entries of a lock are read: the line, and what is wrong there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from envdoctor.errors import LockError
from envdoctor.locks.text import digest_problem, quoted
from envdoctor.locks.toml import Document, Table
from envdoctor.model import LockProblem
from envdoctor.printable import redact


@dataclass(slots=True)
class Notes:
    """What has been met so far."""

    problems: list[LockProblem] = field(default_factory=list)
    line: int = 0
    """Of the entry that is being read."""
    _markers: dict[str, bool] = field(default_factory=dict)
    """Markers that were met -> whether they can be parsed."""

    def problem(self, message: str, rule: str = "wrong-format", text: str = "", subject: str = "") -> None:
        """Note what is wrong with the entry that is being read."""
        self.problems.append(LockProblem(self.line, message, "", rule, redact(text), subject))

    def told(self, fault: str | None) -> bool:
        """Note what makes an entry none, and tell whether anything does."""
        if fault is not None:
            self.problem(fault)
        return fault is not None

    def digests(self, found: Iterable[str | None], name: str) -> tuple[str, ...]:
        """Return the digests that are some, of the package with this normalised name."""
        good = []
        for digest in found:
            problem = digest_problem(digest) if digest is not None else None
            if problem is not None:
                text = (digest or "").partition(":")[2]
                self.problem(f"package {quoted(name)}: {problem}", "malformed-hash", text, name)
            elif digest is not None:
                good.append(digest)
        return tuple(good)

    def marker(self, text: str | None) -> str | None:
        """Return a marker if it is one; what is none is told once, and as good as missing."""
        return text if text and self._valid(text) else None

    def _valid(self, text: str) -> bool:
        from packaging.markers import InvalidMarker, Marker

        if text not in self._markers:
            try:
                Marker(text)
            except (InvalidMarker, RecursionError):
                self.problem(f"{quoted(text)} is no marker", text=text)
                self._markers[text] = False
            else:
                self._markers[text] = True
        return self._markers[text]


def entries(document: Document, notes: Notes) -> Iterator[Table]:
    """Yield every `[[package]]`, its line noted. Raises LockError if `package` is no array of tables."""
    tables = document.top.get("package", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise LockError(document.path, "`package` is not an array of tables")
    for table, line in zip(tables, document.lines("package", len(tables)), strict=True):
        notes.line = line
        yield table
    notes.line = 0
