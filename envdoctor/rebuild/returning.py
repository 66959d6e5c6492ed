"""The way back: which generations there are, and how another becomes the active one again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from envdoctor.errors import EnvDoctorError, StepError, UsageError
from envdoctor.generations import collecting, freezing, holding, jobs, journal, layout, marker, states, switching
from envdoctor.generations.collecting import Collected
from envdoctor.generations.journal import Entry
from envdoctor.generations.layout import ADOPTED, Layout
from envdoctor.generations.marker import Marker
from envdoctor.generations.states import Difference
from envdoctor.locate import Wish, locate
from envdoctor.system.forked import call
from envdoctor.system.host import Host

WITHIN = 60.0


@dataclass(frozen=True, slots=True)
class Generation:
    """One of the environments that a link has led to, or may lead to."""

    name: str
    place: str
    state: str
    """`active`, `previous`, `complete`, `red`, `adopted`, `damaged` or `unfinished`."""
    marker: Marker | None
    superseded: str | None
    """When the link last ceased to lead to it."""
    log: str | None
    frozen: bool = False


@dataclass(frozen=True, slots=True)
class Generations:
    """All of one environment."""

    link: str
    kind: str
    leads_to: str
    """Where the link leads if that is none of the generations; "" otherwise."""
    found: tuple[Generation, ...]
    """Youngest first."""
    collected: Collected | None = None
    recovered: str | None = None


@dataclass(frozen=True, slots=True)
class Returned:
    """What came of a rollback."""

    link: str
    before: str
    after: str
    verified: bool
    """False if it is not known how the environment was that is active now."""
    difference: Difference | None = None


def generations(wish: Wish, host: Host, *, prune: bool = False, keep: int = 2, force: bool = False) -> Generations:
    """List all; with `prune`, remove what no job uses, with `force` also what was active lately. Raises UsageError."""
    place = _place(wish, host)
    collected = recovered = None
    if os.path.isdir(place.home) and (prune or _interrupted(place)):
        with holding.held(place, host.name):
            recovered = switching.recover(place, host.now())
            if prune:
                cleared = collecting.clear(place)
                age = timedelta(0) if force else collecting.AGE
                found = collecting.collect(place, keep, host.now(), used, age=age)
                collected = replace(found, removed=(*cleared, *found.removed))
    entries = journal.read(place)
    leads = os.readlink(place.link) if place.kind() == "elsewhere" else ""
    return Generations(
        place.link,
        place.kind(),
        leads,
        tuple(sorted((_generation(place, name, entries) for name in place.names()), key=_age)),
        collected,
        recovered,
    )


def used(place: str) -> str:
    """Say who runs from a generation, "" for nobody."""
    found = jobs.jobs(place, place)
    users = [*found.mixing, *found.keeping]
    return f"process {users[0].pid} of {users[0].user} uses it" if users else ""


def _age(item: Generation) -> tuple[bool, float]:
    """Order them: the active one, then those that were active last; one that never was counts from when it was made."""
    since = item.superseded or (item.marker.made_at if item.marker else "")
    moment = journal.moment(since)
    return item.state != "active", -moment.timestamp() if moment else 0.0


def _interrupted(place: Layout) -> bool:
    """Tell whether a switch was begun and not ended."""
    last = next((entry for entry in reversed(journal.read(place)) if entry.event in ("gap", "switched")), None)
    return last is not None and last.event == "gap"


def _place(wish: Wish, host: Host) -> Layout:
    target, _ = call("the search for the target", partial(locate, replace(wish, place=True), host), timeout=WITHIN)
    return layout.of(target.prefix)


def _generation(place: Layout, name: str, entries: Sequence[Entry]) -> Generation:
    folder = place.place(name)
    found = marker.read(folder)
    log = place.log(name)
    return Generation(
        name,
        folder,
        _state(place, name, found, entries),
        found,
        journal.superseded(entries, place, name),
        log if os.path.isfile(log) else None,
        freezing.is_frozen(folder),
    )


def _state(place: Layout, name: str, found: Marker | None, entries: Sequence[Entry]) -> str:
    active = place.active()
    finished = any(entry.name == name and entry.event in ("complete", "switched") for entry in entries)
    if found is None and not name.startswith(ADOPTED):
        return "damaged" if finished else "unfinished"
    if name == active:
        return "active"
    if found is not None and found.state == "red":
        return "red"
    if active is not None and journal.before(entries, active) == place.text(name):
        return "previous"
    return "adopted" if name.startswith(ADOPTED) else "complete"


def rollback(wish: Wish, host: Host, *, to: str | None = None, force: bool = False) -> Returned:
    """Let the link lead to the environment that was active before, or to the one that is named.

    Raises UsageError if there is none, or it is not as it was, or running jobs forbid it; EnvDoctorError.
    """
    place = _place(wish, host)
    if not os.path.isdir(place.home):
        raise UsageError(f"{place.link} has no generations: nothing was rebuilt there")
    with holding.held(place, host.name):
        switching.recover(place, host.now())
        text = _wanted(place, to, force=force)
        current = place.current()
        name = os.path.basename(text) if place.text(os.path.basename(text)) == text else layout.elsewhere(text)
        goal = os.path.normpath(os.path.join(place.parent, text))
        if not force and current:
            _refuse_jobs(place, current)
        difference, known = _difference(goal, place.state(name), force=force)
        if difference is not None and not force:
            raise UsageError(
                f"{goal} is not as it was when it was last active: {difference.said}; see what changed it, or go back "
                "all the same with --force"
            )
        before = os.readlink(place.link) if os.path.islink(place.link) else current
        outgoing = place.outgoing(host.now())
        note_outgoing(place, current, outgoing)
        switching.switch(place, text, host.now(), adopted=outgoing)
        return Returned(place.link, before, text, known, difference)


def note_outgoing(place: Layout, current: str, name: str) -> None:
    """Write down how the outgoing environment is, so that a way back to it can be verified; nothing if it is gone.

    Raises StepError.
    """
    if not current:
        return
    try:
        states.record(current, place.state(name))
    except OSError as error:
        raise StepError("switch", f"{current} cannot be read: {error.strerror or error}") from error


def _wanted(place: Layout, to: str | None, *, force: bool) -> str:
    """Return the text of the link that is wanted. Raises UsageError if there is no such environment."""
    active = place.active()
    if to is not None:
        name = os.path.basename(os.path.normpath(to))
        if name not in set(place.names()):
            raise UsageError(f"--to: {to} is no generation of {place.link}; `envdoctor generations` lists them")
        text = place.text(name)
    else:
        entries = journal.read(place)
        found = journal.before(entries, active) if active else _last(entries, place)
        if not found:
            raise UsageError(f"{place.link}: no environment is known to have been active before; name one with --to")
        text = found
    name = os.path.basename(text)
    if name == active:
        raise UsageError(f"{place.link} leads to {name} already")
    if not os.path.isdir(os.path.join(place.parent, text)):
        raise UsageError(f"{os.path.join(place.parent, text)} is not there any more; name another with --to")
    found_marker = marker.read(place.place(name))
    if found_marker is not None and found_marker.state == "red" and not force:
        raise UsageError(f"{name} was found wrong when it was made ({found_marker.why}); --force takes it all the same")
    if found_marker is None and place.text(name) == text and not name.startswith(ADOPTED) and not force:
        raise UsageError(f"{name} is not complete: its marker is gone, or it was never finished; --force takes it")
    return text


def _last(entries: Sequence[Entry], place: Layout) -> str | None:
    """Return what was active last, where the link leads to no generation now."""
    found = (entry.said("text") for entry in reversed(entries) if entry.event == "switched")
    return next((text for text in found if os.path.isdir(os.path.join(place.parent, text))), None)


def _refuse_jobs(place: Layout, current: str) -> None:
    running = jobs.jobs(place.link, current)
    if running.mixing:
        raise UsageError(
            f"jobs run from {place.link}, and would mix the packages of both: {running.blocking}; let them end, or "
            "switch under them with --force"
        )


def _difference(goal: str, state: str, *, force: bool) -> tuple[Difference | None, bool]:
    """Compare an environment with how it was; tell also whether that is known."""
    if not os.path.lexists(state):
        return None, False
    try:
        return states.compare(goal, state), True
    except (OSError, ValueError) as error:
        if force:
            return None, False
        why = error.strerror if isinstance(error, OSError) else error
        raise EnvDoctorError(
            f"{goal} cannot be compared with how it was ({state}: {why}); --force goes back all the same"
        ) from error
