"""The nouns of a comparison: what has changed, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Generic, Literal, TypeVar

Area = Literal[
    "torch",
    "packages",
    "interpreter",
    "driver",
    "toolkit",
    "caches",
    "files",
    "startup",
    "variables",
    "lock",
    "node",
    "freeze",
    "seal",
]
"""In the order in which they matter."""
Kind = Literal["added", "removed", "changed"]
Ends = tuple[str | None, str | None]
"""What it was and what it is; None for not there."""
Where = Literal["before", "after", "both"]
BEFORE: Where = "before"
AFTER: Where = "after"
LISTED = 3
"""Names of one kind that a sentence lists."""


class Weight(IntEnum):
    """What a change may mean for training."""

    DETAIL = 1
    """To know when looking for a cause."""
    NOTABLE = 2
    """Training may behave otherwise."""
    GRAVE = 3
    """Training may stop, or runs other code, or on other hardware."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that is not as it was."""

    area: Area
    kind: Kind
    subject: str
    """The thing: a package's normalised name, a path, a variable, a GPU's UUID. Paths of the target are relative."""
    before: str | None
    """What it was, in short; None if it was not there."""
    after: str | None
    """What it is; None if it is not there any more."""
    sentence: str
    weight: Weight = Weight.NOTABLE


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that cannot be compared, so that nothing follows from there being no event."""

    subject: str
    """The fact, or what part of it."""
    side: Where
    """Where it is not known."""
    reason: str
    failed: bool = False
    """True if the doctor failed at reading it."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that two snapshots differ in."""

    events: tuple[Event, ...]
    """What matters for training first."""
    gaps: tuple[Gap, ...] = ()

    @property
    def status(self) -> int:
        """Exit status: 1 events, 3 none and something could not be read, 0 otherwise."""
        return 1 if self.events else 3 if any(gap.failed for gap in self.gaps) else 0


Fact = TypeVar("Fact")
Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Side(Generic[Fact]):
    """One fact of one of the two snapshots."""

    fact: Fact
    prefix: str
    """The target's: the same path below another one is no change."""

    def near(self, path: str) -> str:
        """Return a path as it is told: one in the environment relative to it."""
        return path.removeprefix(f"{self.prefix}/") if path != self.prefix else "."


Compare = Callable[[Side[Any], Side[Any]], Iterator[Event | Gap]]
"""Yields what is different between two times of one fact."""


def differing(
    before: Mapping[Key, Value], after: Mapping[Key, Value]
) -> Iterator[tuple[Key, Value | None, Value | None]]:
    """Yield (key, value before, value after) of what is not the same; None for what is not there."""
    for key in dict.fromkeys([*before, *after]):
        old, new = before.get(key), after.get(key)
        if old != new:
            yield key, old, new


def kind_of(before: object, after: object) -> Kind:
    """Return `added` if there was nothing, `removed` if there is nothing now."""
    return "added" if before is None else "removed" if after is None else "changed"


def told(area: Area, subject: str, ends: Ends, sentence: str, weight: Weight = Weight.NOTABLE) -> Event:
    """Return an event with a sentence of its own."""
    return Event(area, kind_of(*ends), subject, *ends, sentence, weight)


def changed(area: Area, subject: str, ends: Ends, weight: Weight = Weight.NOTABLE, what: str = "") -> Event:
    """Return an event with the sentence that most need: what it was, and what it is. `what` is the thing in words."""
    named = what or subject
    before, after = ends
    kind = kind_of(before, after)
    if kind == "changed":
        sentence = f"{named}: {before} -> {after}"
    elif kind == "added":
        sentence = f"{named} is new: {after}" if after else f"{named} is new"
    else:
        sentence = f"{named} is gone: it was {before}" if before else f"{named} is gone"
    return Event(area, kind, subject, before, after, sentence, weight)


def both(say: Callable[[Value], str | None], before: Value, after: Value) -> Ends:
    """Say the same of both times."""
    return say(before), say(after)


def either(say: Callable[[Value], str], before: Value | None, after: Value | None) -> Ends:
    """Say the same of both times, where it is there."""
    return (None if before is None else say(before)), (None if after is None else say(after))


def some(names: Iterable[str], most: int = LISTED) -> str:
    """List the first few: `a, b, c and 3 more`."""
    items = list(names)
    more = f" and {len(items) - most:,} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def counted(number: int, one: str, many: str = "") -> str:
    """Return `1 file`, `2,000 files`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def yes(value: bool | None) -> str | None:  # noqa: FBT001 - it is the value
    """Say a truth in a word; None if it is not known."""
    return None if value is None else "yes" if value else "no"
