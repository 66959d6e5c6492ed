"""What the page shows, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from envdoctor.model import Report

Point = tuple[float, float | None]
"""Seconds since the epoch, and the value from then on; None where it is not known."""


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a plot."""

    name: str
    points: Sequence[Point]
    """In the order of time."""
    tone: str = ""
    """The severity that it is painted as; "" for a colour of its own."""


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines over one time axis."""

    title: str
    says: str
    """What is counted, a phrase."""
    unit: Literal["", "bytes"]
    series: Sequence[Series]
    missing: str = ""
    """Why there are no lines."""


@dataclass(frozen=True, slots=True)
class Span:
    """A time in which every run came to the same verdict."""

    begin: float
    end: float
    verdict: str | None
    """None where it was not judged."""
    runs: int


Kind = Literal["verdict", "appeared", "gone", "changed", "installed"]


@dataclass(frozen=True, slots=True)
class Moment:
    """One line of the timeline."""

    at: float
    """Seconds since the epoch."""
    kind: Kind
    text: str
    grade: str = ""
    """The severity or weight that it is painted by: `error`, `warning`, `note`, `grave`, `notable`; "" for none."""
    since: float | None = None
    """The earliest that it may have happened, where that is not known to the run."""


@dataclass(frozen=True, slots=True)
class Page:
    """Everything."""

    report: Report
    """What was judged just now."""
    envdoctor: str
    """Version that made it."""
    spans: Sequence[Span]
    runs: int
    """How many are remembered in the time shown; without the one just now."""
    plots: Sequence[Plot]
    moments: Sequence[Moment]
    """The youngest first."""
    changes: Mapping[str, Any] | None
    """What is different from the last healthy run, as `envdoctor diff` says it."""
    unchanged: str
    """Why there is no such comparison."""
    notes: Sequence[str]
    """What was left out, and what could not be read: sentences."""
    since: float | None = None
    """Only what came after it is shown."""
