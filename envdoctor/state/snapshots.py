"""Recorded snapshots: whole ones now and then, and between them what differs."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from envdoctor.state.values import Subject

if TYPE_CHECKING:
    from envdoctor.recorded import Recorded


def at(path: str, subject: Subject, when: datetime | int) -> Recorded | None:
    """Return what was observed by a run: the one of this id, or the youngest until a moment. None if there is none.

    Raises StateError, also for a snapshot that is not what was written.
    """
    raise NotImplementedError
