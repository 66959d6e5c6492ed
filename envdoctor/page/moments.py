"""The timeline of the page: verdicts, findings, what changed between snapshots, and installs that the disk tells of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from envdoctor.changes.events import Event, Weight
from envdoctor.reports.installs import headline
from envdoctor.reports.page import Moment, Span

if TYPE_CHECKING:
    from envdoctor.state.values import Episode

EACH = 12
"""Events of one change that are told one by one."""


def verdicts(spans: Sequence[Span]) -> Iterator[Moment]:
    """Yield when a verdict came up."""
    for span in spans:
        word = span.verdict or "not judged"
        runs = f"{span.runs:,} run{'' if span.runs == 1 else 's'}"
        yield Moment(span.begin, "verdict", f"{word}, in {runs}", span.verdict or "")


def findings(episodes: Iterable[Episode]) -> Iterator[Moment]:
    """Yield when each finding appeared, and when it was gone."""
    for episode in episodes:
        said = f"{episode.message} [{episode.probe}]"
        yield Moment(episode.appeared.timestamp(), "appeared", said, episode.severity.label)
        if episode.gone is not None:
            how = "muted" if episode.muted else "no more"
            yield Moment(episode.gone.timestamp(), "gone", f"{how}: {said}")


def changes(at: float, events: Sequence[Event], since: float | None) -> Iterator[Moment]:
    """Yield what was different from a run on; of many details only how many."""
    heavy = [event for event in events if event.weight > Weight.DETAIL]
    for event in heavy[:EACH]:
        yield Moment(at, "changed", event.sentence, event.weight.name.lower(), since)
    left = len(events) - min(len(heavy), EACH)
    if left:
        more = " more" if heavy else ""
        yield Moment(at, "changed", f"{left:,}{more} detail{'' if left == 1 else 's'}", "detail", since)


def installs(document: Mapping[str, Any]) -> Iterator[Moment]:
    """Yield what `envdoctor timeline` tells of the present environment."""
    for event in document["events"]:
        if event["at"] is None:
            continue
        at = datetime.fromisoformat(event["at"]).timestamp()
        if event["kind"] == "installed":
            yield Moment(at, "installed", headline(event), "error" if event["repurposed"] else "")
        else:
            yield Moment(at, "installed", f"{event['subject']}: {event['what']}")


def youngest_first(moments: Iterable[Moment], since: float | None) -> list[Moment]:
    """Sort them; what was seen at one time stays in the order in which it was told."""
    return sorted((each for each in moments if since is None or each.at >= since), key=lambda each: -each.at)
