"""A JSON lock with the lines of its entries."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from envdoctor.errors import LockError
from envdoctor.locks.text import shown
from envdoctor.locks.toml import Table

DEEP = 64
"""Levels of brackets of a lock; real ones have four. json itself would go as deep as the interpreter's stack."""
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"[ \t\r\n]*(:)?|[{}\[\]]|,')
_CONFLICT = re.compile(r"^<{7}(?: |\r?$)", re.MULTILINE)
Path = tuple[str, ...]


@dataclass(frozen=True)
class JsonDocument:
    """A parsed JSON file whose top is an object."""

    path: str
    text: str
    top: Table

    @classmethod
    def parse(cls, path: str, data: bytes) -> JsonDocument:
        """Decode and parse. Raises LockError with the line."""
        try:
            text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise LockError(path, "is not UTF-8, which JSON must be", line) from error
        conflict = _CONFLICT.search(text)
        if conflict:
            raise LockError(path, "holds an unresolved merge conflict", text.count("\n", 0, conflict.start()) + 1)
        try:
            top = json.loads(text, parse_constant=_refused)
        except RecursionError as error:
            raise LockError(path, "is nested too deeply to be a lock") from error
        except json.JSONDecodeError as error:
            raise LockError(path, f"is not valid JSON: {shown(error.msg)}", error.lineno) from error
        except ValueError as error:  # a number that JSON does not know, or one of thousands of digits
            raise LockError(path, f"is not valid JSON: {shown(str(error).split(';', 1)[0])}") from error
        if not isinstance(top, dict):
            raise LockError(path, "is JSON, but no object, so it is not a lock")
        return cls(path, text, top)

    @cached_property
    def keys(self) -> dict[Path, list[int]]:
        """Every key, by its path of at most four names, with the 1-based lines where it stands.

        The elements of an array have their index as a name. A key that stands more than once is one that each tool
        takes another value of. Raises LockError if brackets are nested too deeply.
        """
        found: dict[Path, list[int]] = {}
        line, at = 1, 0
        for path, place in self._places():
            line += self.text.count("\n", at, place)
            at = place
            found.setdefault(path, []).append(line)
        return found

    def _places(self) -> Iterator[tuple[Path, int]]:
        """Yield paths of keys and of elements that are objects, with their offsets."""
        stack: list[list[Any]] = []  # [is an object, name of what is next in it]
        for match in _TOKEN.finditer(self.text):
            sign = match[0][0]
            if sign in "{[":
                if stack and not stack[-1][0] and sign == "{" and len(stack) < 5:
                    yield tuple(str(level[1]) for level in stack), match.start()
                stack.append([sign == "{", 0])
                if len(stack) > DEEP:
                    raise LockError(self.path, "is nested too deeply to be a lock")
            elif sign in "}]":
                stack.pop()
            elif sign == ",":
                if not stack[-1][0]:
                    stack[-1][1] += 1
            elif match[2] and stack[-1][0]:
                stack[-1][1] = _unescaped(match[1])
                if len(stack) < 5:
                    yield tuple(str(level[1]) for level in stack), match.start()

    def line_of(self, *path: str) -> int:
        """Return the line of a key, the last one's if it stands more than once, whose value counts; 0 for none."""
        return self.keys.get(path, (0,))[-1]


def _unescaped(text: str) -> str:
    return json.loads(f'"{text}"', strict=False) if "\\" in text else text


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number in it")
