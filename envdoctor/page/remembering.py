"""Read of the history what the page shows. Runs in a child: the state may lie on a file server that does not answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import Any

from envdoctor import recorded
from envdoctor.changes.compare import compare
from envdoctor.changes.events import Event
from envdoctor.codec import from_json
from envdoctor.errors import UsageError
from envdoctor.model import Unavailable
from envdoctor.page.choosing import closest
from envdoctor.page.series import Held, held
from envdoctor.recorded import Recorded, kind_of
from envdoctor.state import runs, series
from envdoctor.state.place import DamagedError
from envdoctor.state.series import Stay
from envdoctor.state.values import Episode, Run, Subject

STEADY = ("torch_build", "arch_list", "fx_flag", "interpreter", "search_path", "distributions", "toolkits", "jit_tools")
"""Facts that no run changes; of others, parts."""
TURNS = 40
"""Changes between snapshots that are told, the youngest."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one snapshot says."""

    digest: str
    """Of all that does not move by itself."""
    held: Held | None


@dataclass(frozen=True, slots=True)
class Turn:
    """What is different between two snapshots that were looked at."""

    at: float
    """When a run first saw it, seconds since the epoch."""
    since: float | None
    """When one last saw it as it was before, if others that were not looked at lie between."""
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Past:
    """Everything that is remembered of an environment."""

    runs: tuple[Run, ...] = ()
    episodes: tuple[Episode, ...] = ()
    held: tuple[tuple[float, Held | None], ...] = ()
    """What the compile caches held, from a time on."""
    turns: tuple[Turn, ...] = ()
    healthy: tuple[int, Recorded] | None = None
    """Id and snapshot of the last healthy run."""
    notes: tuple[str, ...] = ()


def remember(path: str, subject: Subject, since: datetime | None) -> Past:
    """Read it. Raises StateError."""
    found = runs.since(path, subject, since)
    stays = series.stays(path, subject, since)
    looks = closest(stays, partial(_looks, path), _differ)
    turns, notes = _turns(path, stays, looks)
    if len(looks) < len(stays):
        notes.append(
            f"Of {len(stays):,} different snapshots {len(looks):,} were read for the plots of caches and for changes: "
            "evenly spread ones, and those beside a change; the others may hold changes that came and went."
        )
    return Past(
        tuple(found),
        tuple(runs.episodes(path, subject, since)),
        tuple(_held(stays, looks)),
        turns,
        _healthy(path, subject),
        tuple(notes),
    )


def _looks(path: str, wanted: Sequence[Stay]) -> list[Look | None]:
    found = series.each(path, [stay.snapshot for stay in wanted], look)
    return [found.get(stay.snapshot) for stay in wanted]


def look(text: bytes) -> Look:
    """Take out of a snapshot what is compared and plotted. Raises DamagedError."""
    try:
        facts: Mapping[str, Any] = json.loads(text)["facts"]
        caches = from_json(kind_of("compile_caches") | Unavailable, facts["compile_caches"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DamagedError(f"a snapshot cannot be read: {error}") from error
    return Look(hashlib.sha256(json.dumps(_steady(facts)).encode()).hexdigest(), held(caches))


def _steady(facts: Mapping[str, Any]) -> list[Any]:
    """Return what an environment is, as JSON values, without what differs for each job or moves by itself."""
    driver, files = facts.get("driver") or {}, facts.get("files") or {}
    gpus = [gpu.get("uuid") for gpu in driver.get("gpus") or () if isinstance(gpu, dict)]
    parts = [driver.get("version"), gpus, files.get("distributions"), (facts.get("startup") or {}).get("files")]
    return [*parts, (facts.get("lock") or {}).get("digest"), *(facts.get(name) for name in STEADY)]


def _differ(one: Look, other: Look) -> bool:
    """Tell whether there is something to tell: another environment, or a cache that has lost keys."""
    if one.digest != other.digest:
        return True
    was, now = one.held or {}, other.held or {}
    return bool(was and now) and any(now.get(device, (0, 0))[0] < keys for device, (keys, _) in was.items())


def _turns(path: str, stays: Sequence[Stay], looks: Mapping[int, Look]) -> tuple[tuple[Turn, ...], list[str]]:
    places = [pair for pair in pairwise(looks) if _differ(looks[pair[0]], looks[pair[1]])]
    notes = [f"Of {len(places):,} changes the youngest {TURNS} are told."] if len(places) > TURNS else []
    return tuple(_turn(path, stays, *pair) for pair in places[-TURNS:]), notes


def _turn(path: str, stays: Sequence[Stay], one: int, other: int) -> Turn:
    before, after = stays[one], stays[other]
    read = partial(_recorded, path)
    found = series.each(path, [before.snapshot, after.snapshot], read)
    known = before.snapshot in found and after.snapshot in found
    events = compare(found[before.snapshot], found[after.snapshot]).events if known else ()
    return Turn(after.first, before.last if other - one > 1 else None, events)


def _recorded(path: str, text: bytes) -> Recorded:
    try:
        return recorded.parse(text, path)
    except UsageError as error:
        raise DamagedError(str(error)) from error


def _held(stays: Sequence[Stay], looks: Mapping[int, Look]) -> Iterator[tuple[float, Held | None]]:
    """Yield what was held at the beginning and at the end of each stay."""
    for place, seen in looks.items():
        yield stays[place].first, seen.held
        if stays[place].last > stays[place].first:
            yield stays[place].last, seen.held


def _healthy(path: str, subject: Subject) -> tuple[int, Recorded] | None:
    from envdoctor.state import snapshots

    run = runs.last_healthy(path, subject)
    found = snapshots.at(path, subject, run.id) if run else None
    return (run.id, found) if run and found else None
