"""The variables of jobs, as the last check of their owner saw them: cron does not know a job's environment."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from envdoctor.state.values import Subject


def record(path: str, subject: Subject, variables: Mapping[str, str], moment: datetime) -> str | None:
    """Remember them if they have changed, or were last remembered a day ago. Raises StateError.

    `variables` are those of facts/variables.py, without secrets. Returns what happened to a damaged file.
    """
    raise NotImplementedError


def last(path: str, subject: Subject) -> tuple[datetime, Mapping[str, str]] | None:
    """Return when they were last remembered, and the variables. None if they never were. Raises StateError."""
    raise NotImplementedError
