"""Evaluate environment markers for a target that may be only partly known.

The truth has three values (Kleene's logic): a marker that hangs on something unknown is None, neither True nor
False. `packaging.markers.Marker.evaluate` fills what is missing from the interpreter it runs in, which is the
doctor's own; so single comparisons go to it, and only when the target's value for them is known.

Grammar: dependency specifiers (PEP 508); `extras` and `dependency_groups` as of PEP 751.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from envdoctor.locks.text import normalised

_CHOICES = {"extra": ("==", "!="), "extras": ("in", "not in"), "dependency_groups": ("in", "not in")}
"""Variables that say what was asked for rather than what the target is, with their operators (yes, no)."""
_TOKEN = re.compile(r"""'[^']*'|"[^"]*"|[()]|[^\s()'"]+""")
_COMPARISON = re.compile(r"""('[^']*'|"[^"]*"|[\w.]+)\s*(not\s+in\b|in\b|[<>=!~]+)\s*('[^']*'|"[^"]*"|[\w.]+)""")


@dataclass(slots=True)
class Environment:
    """What is known of a target, with a memory of what was asked."""

    values: Mapping[str, str]
    """Marker variables (PEP 508) of the target; those that are not known are missing."""
    chosen: Mapping[str, frozenset[str]] | None = None
    """Normalised extras and groups that are on, under `extra`, `extras`, `dependency_groups`; None: any may be."""
    _known: dict[str, bool | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Complete `python_version`, which the full version implies."""
        full = self.values.get("python_full_version")
        if full and "python_version" not in self.values:
            self.values = {**self.values, "python_version": ".".join(full.split(".")[:2])}

    def applies(self, marker: str | None) -> bool | None:
        """Return whether a marker holds; None if that hangs on something unknown. No marker always holds."""
        if not marker:
            return True
        if marker not in self._known:
            try:
                self._known[marker] = _Reading(_tokens(marker), self).result()
            except RecursionError:
                self._known[marker] = None
        return self._known[marker]

    def compare(self, text: str) -> bool | None:
        """Evaluate one comparison; None if it is malformed or its variable is unknown."""
        if text not in self._known:
            self._known[text] = self._compare(text)
        return self._known[text]

    def _compare(self, text: str) -> bool | None:
        variable, operator, literal = _parts(text)
        if variable in _CHOICES:
            return self._choice(variable, operator, normalised(literal))
        if variable in self.values:
            return _evaluate(text, self.values)
        return self._within_minor(text, variable, operator, literal)

    def _choice(self, variable: str, operator: str, literal: str) -> bool | None:
        if self.chosen is None or operator not in _CHOICES[variable]:
            return None
        on = literal in self.chosen.get(variable, frozenset())
        return on if operator == _CHOICES[variable][0] else not on

    def _within_minor(self, text: str, variable: str, operator: str, literal: str) -> bool | None:
        """Decide a full-version comparison from `python_version` alone, where no patch release could differ."""
        minor = self.values.get("python_version")
        exact = operator in ("===", "in", "not in") or (operator in ("==", "!=") and not literal.endswith("*"))
        if variable != "python_full_version" or minor is None or exact:
            return None
        ends = {_evaluate(text, {variable: f"{minor}.{patch}"}) for patch in (0, 999)}
        return ends.pop() if len(ends) == 1 else None


@dataclass(slots=True)
class _Reading:
    """One pass over a marker's tokens: `or` binds looser than `and`, brackets tightest."""

    tokens: tuple[str, ...]
    environment: Environment
    at: int = 0

    def result(self) -> bool | None:
        value = self._any()
        return value if self.at == len(self.tokens) else None

    def _any(self) -> bool | None:
        values = [self._all()]
        while self._take("or"):
            values.append(self._all())
        return True if True in values else None if None in values else False

    def _all(self) -> bool | None:
        values = [self._one()]
        while self._take("and"):
            values.append(self._one())
        return False if False in values else None if None in values else True

    def _one(self) -> bool | None:
        if self._take("("):
            value = self._any()
            return value if self._take(")") else None
        start = self.at
        while self.at < len(self.tokens) and self.tokens[self.at] not in ("and", "or", "(", ")"):
            self.at += 1
        return self.environment.compare(" ".join(self.tokens[start : self.at]))

    def _take(self, token: str) -> bool:
        found = self.at < len(self.tokens) and self.tokens[self.at] == token
        self.at += found
        return found


@lru_cache(maxsize=4096)
def _tokens(marker: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(marker))


@lru_cache(maxsize=4096)
def _parts(text: str) -> tuple[str, str, str]:
    """Split a comparison into (variable, operator, literal); ("", "", "") if it is none."""
    from packaging.markers import InvalidMarker, Marker

    try:
        match = _COMPARISON.fullmatch(str(Marker(text)))  # writes old spellings such as os.name the new way
    except InvalidMarker:
        return "", "", ""
    if match is None:
        return "", "", ""
    left, operator, right = match.groups()
    operator = " ".join(operator.split())
    return (right, operator, left[1:-1]) if left[0] in "'\"" else (left, operator, right.strip("'\""))


def _evaluate(text: str, values: Mapping[str, str]) -> bool | None:
    from packaging.markers import Marker, UndefinedComparison, UndefinedEnvironmentName

    try:
        return Marker(text).evaluate(dict(values))
    except (UndefinedComparison, UndefinedEnvironmentName, ValueError):
        return None
