"""What a round has to say in numbers. What is not known is left out: a 0 would say that all is well."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import get_args

from envdoctor import __version__
from envdoctor.facts.cache_counts import KINDS
from envdoctor.health.visits import Round, Visit
from envdoctor.model import Report, Unavailable, Verdict
from envdoctor.reports.prometheus import Family, Sample
from envdoctor.snapshot import Snapshot
from envdoctor.views import warmth

TARGETS = 500
"""Environments that have metrics of their own: a pattern of the configuration may match as many as users make."""
SERIES = 200
"""Values of one metric that one environment may have: what lies in its caches decides how many there are."""
_DEVICE = re.compile(r"cpu|cuda:\d{1,3}")
Values = Iterable[tuple[float, Mapping[str, str]]]


@dataclass(frozen=True, slots=True)
class Past:
    """What the state knows of an environment."""

    checked: datetime | None = None
    """When it was last looked at, this round included."""
    healthy: datetime | None = None
    """When it last was healthy."""


def families(found: Round, past: Mapping[str, Past]) -> list[Family]:
    """Return all metrics of a round; `past` has what is known of each environment, by its prefix."""
    visits = found.visits[:TARGETS]
    whole = (
        _single("envdoctor_targets", "Environments that are looked after.", len(found.visits)),
        _single("envdoctor_run_seconds", "Time that the last run took.", found.seconds),
        _single("envdoctor_build_info", "The envdoctor that wrote this.", 1, version=__version__),
    )
    return [*whole, *(Family(name, about, _samples(visits, past, read)) for name, about, read in _METRICS)]


def _single(name: str, about: str, value: float, **labels: str) -> Family:
    return Family(name, about, (Sample(value, labels),))


Read = Callable[[Visit, Past], Values]


def _samples(visits: Iterable[Visit], past: Mapping[str, Past], read: Read) -> tuple[Sample, ...]:
    return tuple(
        Sample(value, {"target": visit.target, **labels})
        for visit in visits
        for value, labels in list(read(visit, past.get(visit.target, Past())))[:SERIES]
        if math.isfinite(value)
    )


def _up(visit: Visit, _: Past) -> Values:
    if visit.visited:
        yield int(visit.report is not None or visit.last is not None), {}


def _verdict(visit: Visit, _: Past) -> Values:
    verdict = visit.report.verdict if visit.report else visit.last
    if verdict is not None:
        yield from ((int(verdict == word), {"verdict": word}) for word in get_args(Verdict))


def _findings(visit: Visit, _: Past) -> Values:
    pairs = visit.report.findings() if visit.report else ()
    counts = Counter((probe, finding.severity) for probe, finding in pairs)
    yield from ((count, {"probe": probe, "severity": level.label}) for (probe, level), count in counts.items())


def _skipped(visit: Visit, _: Past) -> Values:
    yield from _counted(visit.report, lambda report: sum(item.skipped is not None for item in report.outcomes))


def _crashed(visit: Visit, _: Past) -> Values:
    yield from _counted(visit.report, lambda report: sum(item.crashed is not None for item in report.outcomes))


def _counted(report: Report | None, count: Callable[[Report], int]) -> Values:
    return () if report is None else ((count(report), {}),)


def _keys(visit: Visit, _: Past) -> Values:
    """By device where every graph could be read, else of a kind in all; those of this build of torch and triton."""
    facts = _facts(visit)
    if isinstance(facts.compile_caches, Unavailable) or isinstance(facts.torch_build, Unavailable):
        return
    seen = warmth.view(facts.compile_caches, facts.torch_build, facts.jit_tools)
    if isinstance(seen, Unavailable):
        return
    told = {kind for kind, device in seen.counts if device}
    counts = Counter({(kind, ""): 0 for kind in KINDS if kind not in told})
    for (kind, device), number in seen.counts.items():
        if device or kind not in told:
            counts[kind, device if not device or _DEVICE.fullmatch(device) else "other"] += number
    yield from ((number, {"kind": kind, "device": device}) for (kind, device), number in sorted(counts.items()))


def _bytes(visit: Visit, _: Past) -> Values:
    caches = _facts(visit).compile_caches
    for cache in () if isinstance(caches, Unavailable) else caches.caches:
        if cache.complete and not cache.problem:
            yield cache.size, {"cache": cache.kind}


def _facts(visit: Visit) -> Snapshot:
    return visit.snapshot.facts if visit.snapshot else Snapshot()


def _fact_seconds(visit: Visit, _: Past) -> Values:
    yield from ((seconds, {"fact": fact}) for fact, seconds in sorted(visit.seconds.items()))


def _checked(_: Visit, past: Past) -> Values:
    return _moment(past.checked)


def _healthy(_: Visit, past: Past) -> Values:
    return _moment(past.healthy)


def _moment(moment: datetime | None) -> Values:
    return () if moment is None else ((moment.timestamp(), {}),)


def _info(visit: Visit, _: Past) -> Values:
    facts = _facts(visit)
    torch = None if isinstance(facts.torch_build, Unavailable) else facts.torch_build
    driver = None if isinstance(facts.driver, Unavailable) else facts.driver
    known = {
        "owner": visit.owner,
        "python": visit.report.python if visit.report else None,
        "torch": torch.version if torch else None,
        "cuda": torch.cuda if torch else None,
        "triton": _triton(facts),
        "driver": driver.version if driver else None,
    }
    if visit.report is not None:
        yield 1, {name: value for name, value in known.items() if value}


def _triton(facts: Snapshot) -> str | None:
    tools = facts.jit_tools
    return None if isinstance(tools, Unavailable) or tools.triton is None else tools.triton.version


_METRICS: tuple[tuple[str, str, Read], ...] = (
    ("envdoctor_up", "1 if the environment could be judged, 0 if it could not.", _up),
    ("envdoctor_verdict", "1 for what the environment is, 0 for what it is not.", _verdict),
    ("envdoctor_findings", "Findings of a probe.", _findings),
    ("envdoctor_skipped", "Probes that could not be asked.", _skipped),
    ("envdoctor_crashed", "Probes that failed.", _crashed),
    ("envdoctor_cache_keys", "Keys of compile caches for this build; of a device, where that is known.", _keys),
    ("envdoctor_cache_bytes", "Size of the files of a compile cache.", _bytes),
    ("envdoctor_fact_seconds", "Time that a fact took to be read.", _fact_seconds),
    ("envdoctor_last_check_timestamp_seconds", "When the environment was last looked at.", _checked),
    ("envdoctor_last_healthy_timestamp_seconds", "When the environment was last healthy.", _healthy),
    ("envdoctor_info", "What the environment consists of.", _info),
)
