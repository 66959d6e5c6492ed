"""Which of many snapshots are looked at: evenly spread ones, and then those between two that differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

Item = TypeVar("Item")
Seen = TypeVar("Seen")

SPREAD = 150
"""Snapshots that are looked at wherever they lie."""
MOST = 350
"""Snapshots that are looked at in all. One takes some milliseconds."""


def spread(count: int, most: int = SPREAD) -> list[int]:
    """Return evenly spread places among so many, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(number * (count - 1) / (most - 1)) for number in range(most)})


def closest(
    items: Sequence[Item],
    look: Callable[[Sequence[Item]], Sequence[Seen | None]],
    differ: Callable[[Seen, Seen], bool],
    most: int = MOST,
) -> dict[int, Seen]:
    """Look at a spread of the items, and then between neighbours that differ until these lie side by side.

    Returns what was seen by place. `look` returns None for what is gone by now.
    """
    seen: dict[int, Seen | None] = {}

    def at(places: Sequence[int]) -> None:
        seen.update(zip(places, look([items[place] for place in places]), strict=True))

    at(spread(len(items)))
    while len(seen) < min(most, len(items)):
        known = sorted(place for place, found in seen.items() if found is not None)
        middles = [
            (one + other) // 2
            for one, other in pairwise(known)
            if other - one > 1 and (one + other) // 2 not in seen and _differ(seen[one], seen[other], differ)
        ]
        if not middles:
            break
        at(middles[: most - len(seen)])
    return {place: found for place, found in sorted(seen.items()) if found is not None}


def _differ(one: Seen | None, other: Seen | None, differ: Callable[[Seen, Seen], bool]) -> bool:
    return one is not None and other is not None and differ(one, other)
