"""What a round of visits came to. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from envdoctor.model import Report, Severity
    from envdoctor.recorded import Recorded

Kind = Literal["appeared", "worsened", "eased", "healed"]


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one finding since the run before."""

    kind: Kind
    probe: str
    """The probe's id."""
    subject: str
    severity: Severity
    """What it is now; of one that is healed, what it was."""
    before: Severity | None
    """What it was before; None if it was not there."""
    message: str


@dataclass(frozen=True, slots=True)
class Visit:
    """What one look at one environment came to."""

    target: str
    """Prefix; what the configuration names, if no environment was found there."""
    owner: str
    """User name."""
    uid: int
    at: datetime
    report: Report | None
    """None if it was not judged."""
    snapshot: Recorded | None
    reason: str = ""
    """Why it was not judged, or not looked at in this round."""
    visited: bool = True
    """False if its turn did not come before the deadline."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Fact -> seconds that it took."""
    changes: tuple[Change, ...] = ()
    """Against the run before, as the state knows it."""


@dataclass(frozen=True, slots=True)
class Round:
    """One run over all environments."""

    host: str
    began: datetime
    seconds: float
    visits: tuple[Visit, ...]
    note: str = ""
    """Why there are none, or what is to be said of the whole: another run is under way."""
