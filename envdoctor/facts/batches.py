"""Installations in one go, told from the times that installers leave on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

GAP = 10.0
"""Seconds of silence between two distributions that end a batch. One command writes them back to back."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What is known of when and by what one distribution came."""

    name: str
    ended: float
    started: float | None
    installer: str | None
    requested: bool
    requires: frozenset[str]


@dataclass(frozen=True, slots=True)
class Batch:
    """Distributions that were installed together."""

    started: float
    """Seconds since the epoch."""
    ended: float
    installer: str | None
    members: tuple[str, ...]
    """Names, in the order in which they were written."""
    roots: tuple[str, ...]
    """Those that the others came for."""


def batches(stamps: Sequence[Stamp]) -> tuple[tuple[Batch, ...], str | None]:
    """Return the batches, oldest first, or none and why the times prove nothing.

    An image layer or a copy can give every file one time; then order and company are unknown and nothing is guessed.
    """
    if len(stamps) > 1 and len({stamp.ended for stamp in stamps}) == 1:
        return (), "every distribution carries the same time, as in an image layer that flattened them"
    groups: list[list[Stamp]] = []
    for stamp in sorted(stamps, key=lambda stamp: (stamp.ended, stamp.name)):
        if groups and _together(groups[-1], stamp):
            groups[-1].append(stamp)
        else:
            groups.append([stamp])
    return tuple(_batch(group) for group in groups), None


def _together(group: Sequence[Stamp], stamp: Stamp) -> bool:
    last = group[-1]
    began = stamp.started if stamp.started is not None else stamp.ended
    return stamp.installer == last.installer and began - last.ended <= GAP


def _batch(group: Sequence[Stamp]) -> Batch:
    inside = {stamp.name for stamp in group}
    needed = {name for stamp in group for name in stamp.requires if name != stamp.name} & inside
    tops = [stamp for stamp in group if stamp.name not in needed]
    roots = [stamp for stamp in tops if stamp.requested] or [stamp for stamp in group if stamp.requested] or tops
    began = min(stamp.started if stamp.started is not None else stamp.ended for stamp in group)
    return Batch(
        min(began, group[0].ended),
        group[-1].ended,
        group[0].installer,
        tuple(stamp.name for stamp in group),
        tuple(stamp.name for stamp in roots),
    )
