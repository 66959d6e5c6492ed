"""What the state tells, as values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envdoctor.health.visits import Change
    from envdoctor.model import Severity, Verdict


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose history it is."""

    host: str
    user: str
    """User id of the environment's owner, in digits."""
    target: str
    """Prefix; of an environment with generations the link that leads to them."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What pruning goes by."""

    age: float = 400 * 86400.0
    """Seconds for which runs and what is gone are kept: a year and a month."""
    size: int = 64 << 20
    """Bytes of the file."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run over one environment."""

    id: int
    subject: Subject
    at: datetime
    """UTC."""
    verdict: Verdict | None
    """None if it was not judged."""
    errors: int
    warnings: int
    notes: int
    seconds: float
    reason: str
    """Why it was not judged; "" if it was."""
    lacking: tuple[str, ...]
    """In short what it could not judge: `cache/cold-device skipped`, `cuda/wheel-mix crashed`, `node not read`."""


@dataclass(frozen=True, slots=True)
class Episode:
    """One finding from its appearance to its end."""

    subject: Subject
    probe: str
    about: str
    """What the finding is about: its subject."""
    severity: Severity
    """What it was last."""
    message: str
    """What it said last."""
    appeared: datetime
    gone: datetime | None
    """When a run first saw that it was gone; None while it is open."""
    unknown: datetime | None
    """Since when no run could tell whether it is still there; None if the last one could."""
    muted: bool
    """True if it is gone from the reports only because the configuration mutes it."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What came of recording a run."""

    run_id: int
    changes: tuple[Change, ...]
    """Against the run before, worst first; of the first run of an environment everything has appeared."""
    said: str | None = None
    """What happened to a damaged file; None if nothing did."""
    first: bool = False
    """True if nothing was known of this environment."""
