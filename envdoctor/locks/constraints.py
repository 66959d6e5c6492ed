"""Poetry's version constraints as specifier sets (PEP 440): `^1.2`, `~1.2`, `1.*`, `>=1,<2 || >=3`.

Source: Poetry's documentation, Dependency specification. pyproject.toml and the head of a poetry.lock hold them as
somebody wrote them; `||` joins alternatives, of which one specifier set knows none.
"""

from __future__ import annotations

import re
from functools import lru_cache

OR = " || "
"""Between alternatives, also in `requires_python` of the model."""
_EITHER = re.compile(r"\s*\|\|?\s*")
_CLAUSE = re.compile(r"(\^|~=|~|===?|!=|<=?|>=?)?\s*([^\s,<>=!~^|]+)")
_BETWEEN = re.compile(r"[\s,]*")
_RELEASE = re.compile(r"v?(?:\d+!)?(\d{1,9}(?:\.\d{1,9})*)")


@lru_cache(maxsize=4096)
def alternatives(text: str) -> tuple[str, ...] | None:
    """Return specifier sets of which one has to hold, "" for one that admits all; None if it is no constraint."""
    found = tuple(_specifiers(part) for part in _EITHER.split(text.strip()))
    sets = tuple(item for item in found if item is not None)
    return sets if len(sets) == len(found) else None


def _specifiers(text: str) -> str | None:
    """Turn clauses that a comma or blanks join into a specifier set, None if one of them is none."""
    clauses, at = [], 0
    text = text.strip().strip("()")
    while at < len(text):
        match = _CLAUSE.match(text, at)
        if match is None:
            return None
        clause = _specifier(match[1] or "", match[2])
        if clause is None:
            return None
        clauses.append(clause)
        at = _BETWEEN.match(text, match.end()).end()  # type: ignore[union-attr] # an empty match is one
    return ",".join(filter(None, clauses)) if clauses else None


def _specifier(operator: str, version: str) -> str | None:
    if version == "*":
        return "" if operator in ("", "==", ">=") else None
    if operator not in ("^", "~"):
        version = version.replace(".x", ".*")
        return f"{operator or '=='}{version}"
    release = _RELEASE.match(version)
    if release is None:
        return None
    numbers = [int(part) for part in release[1].split(".")]
    return f">={version},<{_caret(numbers) if operator == '^' else _tilde(numbers)}"


def _caret(numbers: list[int]) -> str:
    """Return what `^` stops before: the first number that is not zero, or the last one, goes up."""
    place = next((index for index, number in enumerate(numbers) if number), len(numbers) - 1)
    return ".".join(map(str, [*numbers[:place], numbers[place] + 1]))


def _tilde(numbers: list[int]) -> str:
    place = min(1, len(numbers) - 1)
    return ".".join(map(str, [*numbers[:place], numbers[place] + 1]))


def requires_python(text: str | None) -> str | None:
    """Return which Pythons a constraint admits, alternatives joined by OR; None for all, and for what is none."""
    found = alternatives(text) if text else None
    return None if not found or "" in found else OR.join(found)


@lru_cache(maxsize=16384)
def admits(constraint: str, version: str) -> bool:
    """Tell whether a constraint admits a version, labels and pre-releases included; what is unclear admits all."""
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

    found = alternatives(constraint)
    try:
        parsed = Version(version)
        return found is None or any(SpecifierSet(each, prereleases=True).contains(parsed) for each in found)
    except ValueError:  # no version, or numbers of thousands of digits
        return True


def python_marker(text: str) -> str | None:
    """Return the marker that stands for a `python = "..."` constraint; None if it holds everywhere or is unclear."""
    found = alternatives(text)
    if not found or "" in found:
        return None
    return " or ".join(" and ".join(map(_compared, each.split(","))) for each in found)


def _compared(clause: str) -> str:
    match = re.match(r"(\W+)(.*)", clause)
    operator, version = (match[1], match[2]) if match else ("==", clause)
    variable = "python_version" if version.removesuffix(".*").count(".") <= 1 else "python_full_version"
    return f'{variable} {operator} "{version}"'
