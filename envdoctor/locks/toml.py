"""A TOML lock with the lines of its package tables, and tolerant ways to take values out of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from envdoctor.errors import LockError
from envdoctor.locks.files import PINS
from envdoctor.model import LockProblem

Table = Mapping[str, Any]
LARGEST = 1 << 53
"""Bytes beyond which a size is none."""


@dataclass(frozen=True)
class Document:
    """A parsed TOML file."""

    path: str
    text: str
    top: Table

    @classmethod
    def parse(cls, path: str, data: bytes) -> Document:
        """Decode and parse. Raises LockError with the line."""
        import tomllib

        text = _decoded(path, data)
        try:
            return cls(path, text, tomllib.loads(text))
        except RecursionError as error:
            raise LockError(path, "is nested too deeply to be a lock") from error
        except ValueError as error:  # TOMLDecodeError, or an integer of thousands of digits
            message = str(error)
            place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", message)
            line = int(place[1]) if place and place[1] else text.count("\n") + 1 if place else None
            plain = message[: place.start()] if place else message.split(";", 1)[0]
            raise LockError(path, f"is not valid TOML: {plain}", line) from error

    @cached_property
    def headers(self) -> tuple[re.Match[str], ...]:
        """Every `[table]` and `[[table]]` header line, in order."""
        return tuple(re.finditer(r"^[ \t]*(\[\[?)[ \t]*([\w.\"'-]+)[ \t]*\]", self.text, re.MULTILINE))

    def lines(self, table: str, count: int) -> tuple[int, ...]:
        """Return the 1-based lines of `name = ...` in the `[[table]]` entries; zeros if they cannot be told apart."""
        spans = self._spans(table)
        if len(spans) != count:  # an inline array, or a header inside a multi-line string
            return (0,) * count
        name = re.compile(r"^[ \t]*name[ \t]*=", re.MULTILINE)
        found, line, at = [], 1, 0
        for start, end in spans:
            match = name.search(self.text, start, end)
            place = match.start() if match else start
            line += self.text.count("\n", at, place)
            at = place
            found.append(line)
        return tuple(found)

    def line_of(self, key: str) -> int | None:
        """Return the line of the first `key = ...`, None if there is none."""
        match = re.search(rf"^[ \t]*{re.escape(key)}[ \t]*=", self.text, re.MULTILINE)
        return self.text.count("\n", 0, match.start()) + 1 if match else None

    def _spans(self, table: str) -> list[tuple[int, int]]:
        ends = [match.start() for match in self.headers[1:]] + [len(self.text)]
        pairs = zip(self.headers, ends, strict=True) if self.headers else ()
        return [(head.start(), end) for head, end in pairs if head[1] == "[[" and head[2] == table]


def _decoded(path: str, data: bytes) -> str:
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise LockError(path, "is not UTF-8, which TOML must be", line) from error


def text_of(table: Table, key: str) -> str | None:
    """Return a string value, None if the key is missing or holds something else."""
    value = table.get(key)
    return value if isinstance(value, str) else None


def table_of(table: Table, key: str) -> Table:
    """Return a table value, an empty one if the key is missing or holds something else."""
    value = table.get(key)
    return value if isinstance(value, dict) else {}


def tables_of(table: Table, key: str) -> list[Table]:
    """Return the tables of an array; whatever else it holds is left out."""
    return only_tables(table.get(key))


def only_tables(value: object) -> list[Table]:
    """Return the tables of a value that should be an array of tables."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def texts_of(table: Table, key: str) -> tuple[str, ...]:
    """Return the strings of an array; whatever else it holds is left out."""
    value = table.get(key)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def size_of(table: Table) -> int | None:
    """Return the `size` of a file, bytes."""
    value = table.get("size")
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST else None


def crowd(packages: Sequence[object]) -> tuple[LockProblem, ...]:
    """Return what is wrong with the number of a lock's packages, if anything is."""
    said = f"the lock holds {len(packages):,} packages; no environment needs more than {PINS:,}"
    return (LockProblem(0, said, rule="over-limit"),) if len(packages) > PINS else ()


def unique(values: Iterable[str]) -> tuple[str, ...]:
    """Drop repetitions and empty strings, keep the order."""
    return tuple(dict.fromkeys(value for value in values if value))
