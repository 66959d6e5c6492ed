"""All that is dated, in order, and what of it changed the environment's purpose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from envdoctor.history import notes
from envdoctor.history.events import History, Installed, Noted
from envdoctor.history.installs import Evidence, installs
from envdoctor.model import Unavailable

UNTOLD = {
    "lock": "what is foreign, and what an install moved away from the lock",
    "owners": "what an install overwrote",
    "files": "which files were changed after their install",
    "startup": "start-up files that were put there by hand",
}
"""Fact -> what cannot be told without it."""


def history(values: Mapping[str, Any], evidence: Evidence) -> History:
    """Put it together. `values` holds facts and views by name."""
    noted = list(_noted(values, evidence))
    noted += notes.changed(evidence.distributions, noted)
    events: list[Installed | Noted] = [*noted, *installs(evidence)]
    names = {item.name for item in evidence.distributions.own}
    return History(
        sorted(events, key=lambda event: event.at),
        tuple(notes.gone(evidence)),
        tuple(sorted(names - evidence.distributions.batch_of.keys())),
        evidence.distributions.timeless,
        tuple(_unknown(values)),
    )


def _noted(values: Mapping[str, Any], evidence: Evidence) -> Iterator[Noted]:
    if not isinstance(values["interpreter"], Unavailable):
        yield from notes.created(values["interpreter"], evidence.distributions)
    if not isinstance(evidence.seal, Unavailable):
        yield from notes.sealed(evidence.seal)
    if not isinstance(values["files"], Unavailable):
        yield from notes.edited(values["files"])
    if not isinstance(values["startup"], Unavailable):
        yield from notes.startup_code(values["startup"], evidence.owners)


def _unknown(values: Mapping[str, Any]) -> Iterator[str]:
    for name, what in UNTOLD.items():
        if isinstance(values[name], Unavailable):
            yield f"{what}: {values[name].reason}"
