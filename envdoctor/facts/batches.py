"""Installations in one go, told from the times that installers leave on disk (measured: see `install_times`).

A pause of ten seconds ends a batch, and so does another installer. Shorter pauses end one of pip's where the order
rules out a single command. pip (_internal/resolution/resolvelib/resolver.py, read in 23.2 and 26.3) takes what needs
nothing first, then what needs only that, and so on, each time from z to a; and it marks as REQUESTED what was named. So
where one command's worth is complete, and what follows is complete in itself and would have had to come earlier, there
were two. uv takes several at once and marks all: two of its commands within ten seconds are one batch here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

GAP = 10.0
"""Seconds of silence between two distributions that end a batch. One command writes them back to back."""
TICK = 1.0
"""Seconds by which a copy's times may be rounded."""
PAUSE = 0.2
"""Seconds that pip takes at least to start and to resolve."""
SEEDS = frozenset({"pip", "setuptools", "wheel", "uv"})
"""What venv, virtualenv and conda put into an environment unasked, and people renew before they install anything."""
Worth = Literal["own", "flat", "copied"]
"""What times prove: they are the installer's own; all are one whole second, so that of several with the same nothing is
known; or a copy gave them."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What is known of when and by what one distribution came."""

    name: str
    ended: float
    started: float | None
    installer: str | None
    requested: bool
    requires: frozenset[str]
    times: Worth = "own"
    always: frozenset[str] = frozenset()
    """What it requires under no marker, with the extras that it asks for: `uvicorn[standard]`."""

    @property
    def began(self) -> float:
        """When its installation began, as far as is known."""
        return self.started if self.started is not None else self.ended


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


def batches(
    stamps: Sequence[Stamp], made: float | None = None, *, ordered: bool = True
) -> tuple[tuple[Batch, ...], str | None]:
    """Return the batches, oldest first, and why the times of those that are in none prove nothing.

    `made` is when the environment was made (its pyvenv.cfg); `ordered` says that pip's order is the one known here. An
    image layer or a copy can give every file one time; then order and company are unknown and nothing is guessed.
    """
    if len(stamps) > 1 and len({stamp.ended for stamp in stamps}) == 1:
        return (), "every distribution carries the same time, as in an image layer that flattened them"
    found = sorted(stamps, key=lambda stamp: (stamp.ended, stamp.name))
    copied = _copied(found, made)
    left = [stamp for stamp in found if stamp not in copied]
    groups = [command for run in _runs(left) for command in _commands(run, _known(run, left) if ordered else {})]
    told = [group for group in groups if not _flattened(group)]
    flat = sum(map(len, groups)) - sum(map(len, told))
    return tuple(map(_batch, told)), _doubt(flat, len(copied))


def _known(run: Sequence[Stamp], stamps: Sequence[Stamp]) -> Mapping[str, int]:
    """Return the heights of what was there at the end of a run; none if another pip than the present one wrote it."""
    came = max((stamp.ended for stamp in stamps if stamp.name == "pip"), default=float("-inf"))
    return _heights([stamp for stamp in stamps if stamp.ended <= run[-1].ended]) if run[0].ended >= came else {}


def _copied(stamps: Sequence[Stamp], made: float | None) -> frozenset[Stamp]:
    """Return what a copy dated: by its byte code, with what lies between such; by pyvenv.cfg, which comes first."""
    found = {stamp for stamp in stamps if stamp.times == "copied"}
    for run in _silences(stamps):
        if made is not None and _precedes(run, made):
            found.update(run)
        proven = [stamp for stamp in run if stamp in found]
        if len(proven) > 1 and 2 * len(proven) >= len(run):
            first, last = proven[0].ended - TICK, proven[-1].ended + TICK
            found.update(stamp for stamp in run if first <= stamp.ended <= last)
    return frozenset(found)


def _precedes(run: Sequence[Stamp], made: float) -> bool:
    """Tell whether packages came before the environment: a copy wrote its pyvenv.cfg at the end of this run.

    Seeds do not count: virtualenv writes the file once more after them.
    """
    at_its_end = run[-1].ended - TICK <= made <= run[-1].ended + GAP
    return at_its_end and any(stamp.ended < made and stamp.name not in SEEDS for stamp in run)


def _silences(stamps: Sequence[Stamp]) -> Sequence[Sequence[Stamp]]:
    """Divide at long pauses alone."""
    runs: list[list[Stamp]] = []
    for stamp in stamps:
        if runs and stamp.ended - runs[-1][-1].ended <= GAP:
            runs[-1].append(stamp)
        else:
            runs.append([stamp])
    return runs


def _doubt(flat: int, copied: int) -> str | None:
    said = (
        [f"{flat} distributions carry one and the same time, as in an image layer that flattened them"] if flat else []
    )
    if copied:
        which = "distribution was copied after it had" if copied == 1 else "distributions were copied after they had"
        said.append(f"{copied} {which} been installed: byte code, or the order of writing, does not fit their times")
    return "; ".join(said) or None


def _flattened(group: Sequence[Stamp]) -> bool:
    return len(group) > 1 and len({stamp.ended for stamp in group}) == 1 and all(s.times == "flat" for s in group)


def _runs(stamps: Iterable[Stamp]) -> Sequence[Sequence[Stamp]]:
    """Divide at long pauses, and where another installer takes over."""
    runs: list[list[Stamp]] = []
    for stamp in stamps:
        last = runs[-1][-1] if runs else None
        if last is not None and stamp.installer == last.installer and stamp.began - last.ended <= GAP:
            runs[-1].append(stamp)
        else:
            runs.append([stamp])
    return runs


def _commands(run: Sequence[Stamp], heights: Mapping[str, int]) -> Sequence[Sequence[Stamp]]:
    """Divide a run of pip's where no single command can have written it in that order."""
    if run[0].installer != "pip":
        return [run]
    found, start = [], 0
    for at in range(1, len(run)):
        done, rest = run[start:at], run[at:]
        if rest[0].began - done[-1].ended < PAUSE:
            continue
        late = not _may_fall(done, rest[0], heights) and (
            _after_its_asker(done, rest[0], run) or _out_of_order(done[-1], rest[0], heights)
        )
        if (late or _prepared(done, rest)) and _complete(done) and _complete(rest):
            found.append(done)
            start = at
    return [*found, run[start:]]


def _may_fall(done: Sequence[Stamp], following: Stamp, heights: Mapping[str, int]) -> bool:
    """Tell whether this may be a command with --no-deps, which goes from z to a whatever needs what.

    Not so where names rise, or where what came before shows that dependencies were followed.
    """
    if following.name > done[-1].name:
        return False
    pairs = list(pairwise(done))
    followed = all(
        one.name in heights and other.name in heights and _in_layers(one, other, heights) for one, other in pairs
    )
    return not followed or all(one.name > other.name for one, other in pairs)


def _out_of_order(last: Stamp, following: Stamp, heights: Mapping[str, int]) -> bool:
    """Tell whether a command that follows dependencies would have written the second before the first."""
    known = following.name in heights and last.name in heights
    return known and not _in_layers(last, following, heights)


def _in_layers(one: Stamp, other: Stamp, heights: Mapping[str, int]) -> bool:
    """Tell whether one may come before the other in a command that follows dependencies."""
    return (heights[one.name], other.name) <= (heights[other.name], one.name)


def _prepared(done: Sequence[Stamp], rest: Sequence[Stamp]) -> bool:
    """Tell whether the first command only made the environment ready for the second."""
    return all(stamp.name in SEEDS for stamp in done) and not any(stamp.name in SEEDS for stamp in rest)


def _after_its_asker(done: Sequence[Stamp], following: Stamp, run: Sequence[Stamp]) -> bool:
    """Tell whether what another one needs came after it, as in no command that follows dependencies.

    In a ring, which what the run holds later may close, one has to be first.
    """
    ring = _reached([following.name], run)
    needs = (need for stamp in done if stamp.name not in ring for need in stamp.always)
    return any(following.name == need.partition("[")[0] for need in needs)


def _complete(stamps: Sequence[Stamp]) -> bool:
    """Tell whether these are what a command installs: what was asked for, and only what that needs."""
    return len(_reached([stamp.name for stamp in stamps if stamp.requested], stamps)) == len(stamps)


def _reached(names: Iterable[str], stamps: Iterable[Stamp]) -> frozenset[str]:
    """Return what these names need of the stamps, directly or not, and themselves."""
    needs = {stamp.name: stamp.requires for stamp in stamps}
    pending = list(names)
    reached = set(pending)
    while pending:
        new = {name for name in needs[pending.pop()] if name in needs} - reached
        reached |= new
        pending += new
    return frozenset(reached)


def _heights(stamps: Sequence[Stamp]) -> dict[str, int]:
    """Return how many steps each is above those that need nothing.

    Left out is what is in a ring, or asks for an extra or for something that is gone, and what is above such: nobody
    knows how high it stood.
    """
    whole = {stamp.name: stamp.requires - {stamp.name} for stamp in stamps}
    needs = {name: [other for other in wanted if other in whole] for name, wanted in whole.items()}
    askers: dict[str, list[str]] = {}
    for name, wanted in needs.items():
        for other in wanted:
            askers.setdefault(other, []).append(name)
    lacking = {stamp.name for stamp in stamps if stamp.always - whole.keys()}  # an extra's own needs are not at hand
    open_needs = Counter({name: len(wanted) + (name in lacking) for name, wanted in needs.items()})
    level = [name for name, count in open_needs.items() if not count]
    heights: dict[str, int] = {}
    while level:
        height = max(heights.values(), default=-1) + 1
        heights |= dict.fromkeys(level, height)
        open_needs.subtract(asker for name in level for asker in askers.get(name, ()))
        level = [name for name in {a for done in level for a in askers.get(done, ())} if not open_needs[name]]
    return heights


def _batch(group: Sequence[Stamp]) -> Batch:
    inside = {stamp.name for stamp in group}
    needed = {name for stamp in group for name in stamp.requires if name != stamp.name} & inside
    tops = [stamp for stamp in group if stamp.name not in needed]
    roots = [stamp for stamp in tops if stamp.requested] or [stamp for stamp in group if stamp.requested] or tops
    began = min(stamp.began for stamp in group)
    return Batch(
        min(began, group[0].ended),
        group[-1].ended,
        group[0].installer,
        tuple(stamp.name for stamp in group),
        tuple(stamp.name for stamp in roots),
    )
