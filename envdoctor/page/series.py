"""Lines over time: keys and bytes of compile caches by device, findings by severity, packages off the lock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from envdoctor.facts.cache_counts import GRAPHS
from envdoctor.facts.compile_caches import CompileCaches
from envdoctor.model import Report, Severity, Unavailable
from envdoctor.reports.page import Plot, Point, Series, Span

if TYPE_CHECKING:
    from envdoctor.state.values import Episode, Run

OFF_THE_LOCK = ("packages/foreign", "packages/missing", "packages/drifted")
"""Probes whose findings are packages that are not as the lock has them."""
Held = Mapping[str, tuple[int, int]]
"""Device -> (keys, bytes) of its compiled graphs; "" for all that inductor's and triton's caches hold."""


def held(caches: CompileCaches | Unavailable) -> Held | None:
    """Return what the caches hold; None if that is not known, by device if not every graph was read."""
    if isinstance(caches, Unavailable):
        return None
    relevant = [cache for cache in caches.caches if cache.always_used]
    if not relevant or not all(cache.complete and cache.problem is None for cache in relevant):
        return None
    keys: Counter[str] = Counter()
    sizes: Counter[str] = Counter({"": sum(cache.size for cache in relevant)})
    for cache in relevant:
        keys[""] += sum(cache.keys.get(kind, 0) for kind in GRAPHS)
        for count in cache.counts if cache.sampled else ():
            if count.device and count.kind in GRAPHS:
                keys[count.device] += count.keys
                sizes[count.device] += count.size
    return {device: (keys[device], sizes[device]) for device in sorted({*keys, ""})}


def cache_plots(seen: Sequence[tuple[float, Held | None]]) -> Iterator[Plot]:
    """Return the plots of keys and bytes by device, and of all files; `seen` holds what was held from a time on."""
    devices = sorted({device for _, each in seen for device in each or ()} - {""}, key=_natural)
    missing = "no run could read the compile caches"
    none = missing if all(each is None for _, each in seen) else "no graph names a device"
    keys, sizes = ([Series(device, _points(seen, device, place)) for device in devices] for place in (0, 1))
    yield Plot("Compile cache: keys by device", "graphs", "", keys, none)
    yield Plot("Compile cache: bytes by device", "size of graphs", "bytes", sizes, none)
    whole = [Series("all files", _points(seen, "", 1))]
    yield Plot("Compile cache: all files, headers and kernels as well", "size", "bytes", whole, missing)


def _natural(device: str) -> tuple[str, int]:
    kind, _, number = device.partition(":")
    return kind, int(number) if number.isdecimal() else -1


def _points(seen: Sequence[tuple[float, Held | None]], device: str, place: int) -> list[Point]:
    """Return a line; a device that a cache says nothing of has nothing in it."""
    return [(at, None if each is None else _value(each.get(device, (0, 0)), place)) for at, each in seen]


def _value(held_: tuple[int, int], place: int) -> float | None:
    """Return keys or bytes; no bytes of keys that there are are bytes that an earlier envdoctor did not count."""
    return None if place == 1 and held_[0] and not held_[1] else float(held_[place])


def findings_plot(found: Sequence[Run], report: Report) -> Plot:
    """Return errors, warnings and notes over time; runs that were not judged are gaps."""
    now = Counter(finding.severity for _, finding in report.findings())
    at = report.taken_at.timestamp()
    series = []
    for severity in sorted(Severity, reverse=True):
        name = f"{severity.label}s"
        points = [(run.at.timestamp(), None if run.verdict is None else float(getattr(run, name))) for run in found]
        series.append(Series(name, [*points, (at, float(now[severity]))], severity.label))
    return Plot("Findings by severity", "findings", "", series)


def drift_plot(episodes: Iterable[Episode], found: Sequence[Run], report: Report) -> Plot:
    """Return how many packages were off the lock: from when each such finding appeared until it was gone."""
    title, says = "Drift: packages that are not as the lock has them", "packages"
    at = report.taken_at.timestamp()
    now = {finding.subject for probe, finding in report.findings() if probe in OFF_THE_LOCK}
    skipped = {outcome.probe: outcome.skipped.reason for outcome in report.outcomes if outcome.skipped}
    if not found and set(OFF_THE_LOCK) <= skipped.keys():
        return Plot(title, says, "", (), skipped[OFF_THE_LOCK[0]])
    steps: Counter[float] = Counter()
    for episode in episodes:
        if episode.probe in OFF_THE_LOCK:
            steps[episode.appeared.timestamp()] += 1
            if episode.gone is not None:
                steps[episode.gone.timestamp()] -= 1
    begin = found[0].at.timestamp() if found else at
    level = float(sum(step for moment, step in steps.items() if moment <= begin))
    points: list[Point] = [(begin, level)] if found else []
    for moment, step in sorted(steps.items()):
        if moment > begin:
            level += step
            points.append((moment, level))
    points.append((at, float(len(now))))
    return Plot(title, says, "", [Series("packages off the lock", points)])


def spans(found: Sequence[Run]) -> list[Span]:
    """Fold runs of one verdict; a verdict holds until the next run."""
    folded = []
    for verdict, group in groupby(found, key=lambda run: run.verdict):
        same = list(group)
        folded.append(Span(same[0].at.timestamp(), same[-1].at.timestamp(), verdict, len(same)))
    ends = [*(span.begin for span in folded[1:]), folded[-1].end if folded else 0.0]
    return [Span(span.begin, end, span.verdict, span.runs) for span, end in zip(folded, ends, strict=False)]
