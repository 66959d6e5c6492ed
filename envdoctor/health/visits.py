"""What a round of visits came to. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from envdoctor.model import Report, Severity, Verdict
    from envdoctor.recorded import Recorded

NOT_DONE = 3
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
    first: bool = False
    """True if nothing was known of it before: then all that was found has appeared."""
    last: Verdict | None = None
    """What the last look came to, where it is not yet time for another one: on network file systems."""

    @property
    def status(self) -> int:
        """Exit status, as of `check`: 1 it is sick, 3 it was not judged, 0 otherwise."""
        if self.last is not None:
            return 1 if self.last == "sick" else 0
        return NOT_DONE if self.report is None else self.report.status()


@dataclass(frozen=True, slots=True)
class Round:
    """One run over all environments."""

    host: str
    began: datetime
    seconds: float
    visits: tuple[Visit, ...]
    note: str = ""
    """Why there are none, or what is to be said of the whole: another run is under way."""
    said: tuple[str, ...] = ()
    """What the configuration names and is not there, and what became of the state."""
    changed: bool = True
    """False if nothing is otherwise than at the run before."""
    untold: tuple[str, ...] = ()
    """Why metrics could not be written, or a command not be told."""
    incomplete: bool = False
    """True if the metrics could not be written: part of the work was not done."""

    @property
    def status(self) -> int:
        """Exit status: the worst of all visits; 1 outranks 3."""
        own = NOT_DONE if self.incomplete else 0
        return max((own, *(visit.status for visit in self.visits)), key=(0, NOT_DONE, 1).index)
