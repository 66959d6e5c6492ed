"""Runs and what they found: verdicts over time, and each finding from its appearance to its end."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from envdoctor.state.values import Episode, Kept, Run, Subject

if TYPE_CHECKING:
    from envdoctor.model import Report
    from envdoctor.recorded import Recorded


def record(
    path: str,
    subject: Subject,
    recorded: Recorded | None,
    report: Report | None,
    moment: datetime,
    *,
    reason: str = "",
) -> Kept:
    """Remember a run, in one transaction. `reason` says why there is no report. Raises StateError."""
    raise NotImplementedError


def since(
    path: str,
    subject: Subject | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int | None = None,
) -> list[Run]:
    """Return runs, oldest first; with a limit the youngest of them. Raises StateError."""
    raise NotImplementedError


def episodes(path: str, subject: Subject | None = None, since: datetime | None = None) -> list[Episode]:
    """Return findings that are open or ended since then, the oldest first. Raises StateError."""
    raise NotImplementedError


def last_healthy(path: str, subject: Subject) -> Run | None:
    """Return the youngest run whose verdict was healthy. Raises StateError."""
    raise NotImplementedError


def last_visited(path: str) -> dict[Subject, datetime]:
    """Return when each environment was last looked at. Raises StateError."""
    raise NotImplementedError
