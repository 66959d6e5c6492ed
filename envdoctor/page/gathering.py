"""`envdoctor report`: look, judge, read the history, and put the page together."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from envdoctor import __version__, recalling, workflows
from envdoctor.changes import telling
from envdoctor.changes.compare import compare
from envdoctor.errors import EnvDoctorError
from envdoctor.history.telling import Source, timeline_of
from envdoctor.locate import Wish
from envdoctor.model import Report
from envdoctor.page import moments, series
from envdoctor.page.remembering import Past, remember
from envdoctor.recorded import Recorded
from envdoctor.reports.page import Moment, Page
from envdoctor.system.forked import call
from envdoctor.system.host import Host


@dataclass(frozen=True, slots=True)
class Gathered:
    """The page, and whether it is whole."""

    page: Page
    problems: tuple[str, ...]
    """What could not be read: sentences."""


def gather(wish: Wish, since: datetime | None, host: Host, *, deadline: float = workflows.DEADLINE) -> Gathered:
    """Look at an environment, and remember what it was like. Raises UsageError and EnvDoctorError as a check does."""
    began = time.monotonic()
    now = workflows.observe(wish, host, deadline=deadline)
    report = workflows.judge_recorded(now, now.head.policy, workflows.Selection(), began)
    problems = [f"{fact}: {reason}" for fact, reason in report.failed.items()]
    past, said = _past(wish, since, host, deadline)
    problems += [said] if said else []
    told, unsaid = _installs(now)
    problems += [unsaid] if unsaid else []
    return Gathered(_page(now, report, past, since, told, said), tuple(problems))


def _past(wish: Wish, since: datetime | None, host: Host, deadline: float) -> tuple[Past, str]:
    """Return what is remembered, and why nothing is if that could not be read."""

    def read() -> Past:
        path, subject = recalling.subject(wish, host)
        return remember(path, subject, since)

    try:
        found: Past = call("the state", read, timeout=deadline)
    except EnvDoctorError as error:
        return Past(), f"The history could not be read: {error}"
    return found, ""


def _installs(now: Recorded) -> tuple[list[Moment], str]:
    try:
        return list(moments.installs(timeline_of(now, Source(Wish())).document)), ""
    except EnvDoctorError as error:
        return [], f"The times on disk could not be read: {error}"


def _page(now: Recorded, report: Report, past: Past, since: datetime | None, told: list[Moment], said: str) -> Page:
    spans = series.spans(past.runs)
    start = since.timestamp() if since else None
    seen = [*past.held, (report.taken_at.timestamp(), _held(now))]
    plots = [
        series.findings_plot(past.runs, report),
        series.drift_plot(past.episodes, past.runs, report),
        *series.cache_plots(seen),
    ]
    dated = [*moments.verdicts(spans), *told, *moments.findings(past.episodes)]
    dated += [each for turn in past.turns for each in moments.changes(turn.at, turn.events, turn.since)]
    changes, unchanged = None, "No healthy run is remembered, so there is nothing to compare with."
    if past.healthy is not None:
        run, recorded = past.healthy
        before = telling.seen(recorded, telling.HEALTHY, "history", run)
        changes = telling.document(compare(recorded, now), before, telling.seen(now, telling.NOW, "now"))
    notes = [*past.notes, *([said] if said else []), *_window(since)]
    return Page(
        report,
        __version__,
        spans,
        len(past.runs),
        plots,
        moments.youngest_first(dated, start),
        changes,
        unchanged,
        notes,
        start,
    )


def _window(since: datetime | None) -> Iterator[str]:
    if since is not None:
        yield f"Only what was seen since {since:%Y-%m-%d %H:%M} UTC is shown."


def _held(now: Recorded) -> series.Held | None:
    return series.held(now.facts.compile_caches)
