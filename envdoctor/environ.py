"""What is changed of a command's environment, as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """One variable that gets another value."""

    rule: str
    """What decided it: `activate`, the name of a rule of sanitising, `guard`."""
    variable: str
    before: str | None
    """None if it was not set."""
    after: str | None
    """None if it is unset."""
    what: str
    """In a few words: `without /usr/local/cuda/lib64`."""
    why: str


@dataclass(frozen=True, slots=True)
class Left:
    """What a rule could not judge or mend, so that nothing is changed."""

    rule: str
    why: str
    minor: bool = False
    """True for what is told with --dry-run alone."""


def change(env: Mapping[str, str], rule: str, variable: str, after: str | None, what: str, why: str) -> Change:
    """Describe a change of a variable of this environment."""
    return Change(rule, variable, env.get(variable), after, what, why)


def applied(env: Mapping[str, str], changes: Iterable[Change]) -> dict[str, str]:
    """Return an environment with all changes made."""
    made = dict(env)
    for each in changes:
        made.pop(each.variable, None)
        if each.after is not None:
            made[each.variable] = each.after
    return made
