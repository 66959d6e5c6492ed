"""Compare two recorded snapshots: every fact that both have; of the others it is said that they cannot be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from envdoctor.changes import builds, caches, files, gpus, packages, records, startup, toolkits
from envdoctor.changes.events import Area, Compare, Comparison, Event, Gap, Side, Weight, both, changed
from envdoctor.model import Unavailable
from envdoctor.recorded import ABSENT, Recorded
from envdoctor.snapshot import NOT_GATHERED

COMPARED: Mapping[str, tuple[Area, Compare]] = {
    "torch_build": ("torch", builds.torch_build),
    "arch_list": ("torch", builds.arch_list),
    "fx_flag": ("torch", builds.fx_flag),
    "distributions": ("packages", packages.distributions),
    "interpreter": ("interpreter", builds.interpreter),
    "driver": ("driver", gpus.driver),
    "toolkits": ("toolkit", toolkits.toolkits),
    "jit_tools": ("toolkit", toolkits.jit_tools),
    "loader": ("toolkit", toolkits.loader),
    "compile_caches": ("caches", caches.compile_caches),
    "files": ("files", files.files),
    "owners": ("files", files.owners),
    "search_path": ("startup", packages.search_path),
    "startup": ("startup", startup.startup),
    "launchers": ("startup", files.launchers),
    "variables": ("variables", startup.variables),
    "lock": ("lock", records.lock),
    "lock_source": ("lock", records.lock_source),
    "node": ("node", records.node),
    "freeze": ("freeze", records.freeze),
    "seal": ("seal", records.seal),
}
"""Fact -> the area that it is told under, and what compares two of it, in the order of areas."""
UNCOMPARED: Mapping[str, str] = {
    "nvidia_wheels": "they are packages, and compared as such",
    "extensions": "they belong to packages, and are compared as such",
    "lock_scan": "it follows from the lock",
    "cache_marks": "they follow from the caches of earlier runs",
    "gpu_use": "it is another one in every run",
    "job_log": "it is of one run",
}
"""Fact -> why it is not compared."""
NONE = {
    "torch_build": ("torch is not installed",),
    "driver": ("no NVIDIA driver on this node",),
    "lock": ("no lock: none was named and none lies beside the target",),
    "seal": ("no seal: `envdoctor seal` records the good state",),
}
"""Fact -> the reasons of its collector that say there is none, which is known and can be compared."""
_NAMES = {"torch_build": "torch", "driver": "the driver", "lock": "the lock", "seal": "the seal"}
_ORDER = {area: number for number, area in enumerate(dict.fromkeys(area for area, _ in COMPARED.values()))}


def compare(earlier: Recorded, later: Recorded) -> Comparison:
    """Return all that differs, what matters for training first. Values only: nothing is read."""
    found: list[Event | Gap] = []
    for fact, (area, work) in COMPARED.items():
        found += _fact(fact, area, work, earlier, later)
    events = [item for item in found if isinstance(item, Event)]
    gaps = [item for item in found if isinstance(item, Gap)]
    kept = sorted(_once(events), key=lambda event: (-event.weight, _ORDER[event.area]))
    return Comparison(tuple(kept), tuple(dict.fromkeys(gaps)))


def _once(events: Iterable[Event]) -> Iterator[Event]:
    """Leave out what a fact that knows more has told: torch's own word on its version goes before its metadata's."""
    told = {event.subject for event in events if event.area == "torch"}
    for event in events:
        if not (event.area == "packages" and event.subject == "torch" and "torch" in told and event.kind == "changed"):
            yield event


def _fact(fact: str, area: Area, work: Compare, earlier: Recorded, later: Recorded) -> Iterator[Event | Gap]:
    old, new = (getattr(side.facts, fact) for side in (earlier, later))
    if not isinstance(old, Unavailable) and not isinstance(new, Unavailable):
        yield from work(_side(old, earlier), _side(new, later))
        return
    absent = [isinstance(value, Unavailable) and value.reason in NONE.get(fact, ()) for value in (old, new)]
    if all(absent):
        return
    if (absent[0] and not isinstance(new, Unavailable)) or (absent[1] and not isinstance(old, Unavailable)):
        yield _came_or_went(fact, area, old, new)
        return
    yield from _gaps(fact, old, new)


def _side(value: Any, of: Recorded) -> Side[Any]:  # noqa: ANN401 - values of any fact
    return Side(value, of.head.target.prefix)


def _came_or_went(fact: str, area: Area, old: Any, new: Any) -> Event:  # noqa: ANN401 - values of any fact
    ends = both(lambda value: None if isinstance(value, Unavailable) else _short(value), old, new)
    weight = Weight.DETAIL if fact == "seal" else Weight.NOTABLE if fact == "lock" else Weight.GRAVE
    return changed(area, _NAMES[fact].removeprefix("the "), ends, weight, _NAMES[fact])


def _short(value: Any) -> str:  # noqa: ANN401 - values of any fact
    """Say in short which one it is."""
    found = (getattr(value, name, None) for name in ("version", "path", "taken_at"))
    return next((str(each) for each in found if each), "there")


def _gaps(fact: str, old: Any, new: Any) -> Iterator[Gap]:  # noqa: ANN401 - values of any fact
    """Say why a fact cannot be compared; nothing of one that neither snapshot was asked for."""
    reasons = [value if isinstance(value, Unavailable) else None for value in (old, new)]
    if all(reason in (NOT_GATHERED, ABSENT) for reason in reasons):
        return
    if reasons[0] is not None and reasons[0] == reasons[1]:
        yield Gap(fact, "both", reasons[0].reason, reasons[0].failed)
        return
    if reasons[0] is not None:
        yield Gap(fact, "before", reasons[0].reason, reasons[0].failed)
    if reasons[1] is not None:
        yield Gap(fact, "after", reasons[1].reason, reasons[1].failed)
