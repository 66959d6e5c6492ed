"""What no archive vouches for and belongs there nevertheless: held to the RECORD that was installed with it."""

from __future__ import annotations

import json
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from envdoctor.facts.hashing import Job
from envdoctor.facts.metadata import normalised
from envdoctor.installing import Fault
from envdoctor.installing.bookkeeping import rows_of
from envdoctor.installing.layout import Found, Layout, is_own
from envdoctor.system.reading import regular


@dataclass(slots=True)
class Unlocked:
    """The files of such distributions."""

    owners: dict[str, str] = field(default_factory=dict)
    """Path relative to the prefix -> distribution."""
    jobs: list[Job] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def unlocked(layout: Layout, found: Found, editable: AbstractSet[str], alone: AbstractSet[str]) -> Unlocked:
    """Look at the editable projects and at what stands for itself."""
    known = Unlocked()
    start, end = f"{layout.site}/", ".dist-info"
    infos = [path for path in found.folders if path.startswith(start) and path.endswith(end)]
    there: set[str] = set()
    for info in sorted(infos):
        name = normalised(info[len(start) :].partition("-")[0])
        if name in editable | alone and "/" not in info[len(start) :]:
            there.add(name)
            _one(known, name, info, layout, found)
            if name in editable and not _is_editable(layout.at(f"{info}/direct_url.json")):
                known.faults.append(Fault(name, layout.at(info), "is not an editable install"))
    known.faults += [Fault(name, layout.at(layout.site), "has no such editable project") for name in editable - there]
    return known


def _one(known: Unlocked, name: str, info: str, layout: Layout, found: Found) -> None:
    path = f"{info}/RECORD"
    try:
        rows = rows_of(layout.at(path), layout)
    except (OSError, ValueError) as error:
        known.faults.append(
            Fault(name, layout.at(path), f"cannot be read: {getattr(error, 'strerror', None) or error}")
        )
        return
    for place, (digest, _) in rows.items():
        entry = found.entries.get(place)
        how = ""
        if place.startswith("..") or is_own(place):
            how = "is no place for a distribution's files"
        elif entry is None:
            how = "" if place.endswith(".pyc") else "is missing"
        elif entry.fault:
            how = entry.fault
        elif digest:
            known.jobs.append((layout.at(place), digest, entry.size))
            known.places.append(place)
        elif place != path:  # byte code: nobody can say of what
            continue
        known.owners[place] = name
        if how:
            known.faults.append(Fault(name, layout.at(place), how))


def _is_editable(path: str) -> bool:
    try:
        found = json.loads(regular(path, 1 << 16, follow=False))
        return found["dir_info"]["editable"] is True
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return False
