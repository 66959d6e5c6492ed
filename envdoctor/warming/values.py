"""What is asked of a warm-up, and what it showed. Values only."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from envdoctor.cache.counters import Told
from envdoctor.cache.workflow import Saved
from envdoctor.model import Target
from envdoctor.views.warmth import Warmth


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller wants warmed; one of entry, script and command."""

    entry: str | None = None
    """`pkg.mod:function`."""
    script: str | None = None
    command: tuple[str, ...] = ()
    devices: str | None = None
    """As --devices writes it; None for the visible GPUs that nobody uses."""
    expect: int | None = None
    """Keys of AOTAutograd's that each device must have; None to compare with the marks."""
    cache: str | None = None
    limit: float | None = None
    """Seconds that one process may take."""
    save: bool = False
    keep: bool = True
    """False to raise no marks."""

    @property
    def chosen(self) -> bool:
        """True if the caller has named some devices, and leaves others out on purpose."""
        return self.devices is not None and self.devices.strip() != "all"

    @property
    def name(self) -> str:
        """What is run, as a sentence names it."""
        return self.entry or self.script or shlex.join(self.command)


@dataclass(frozen=True, slots=True)
class Run:
    """One process, or the processes of one command, for one device."""

    status: int | None
    """Exit status, negative for a signal; None if its time was over."""
    seconds: float
    told: tuple[Told, ...] = ()
    new: tuple[str, ...] = ()
    """Files that the cache has got meanwhile."""
    raised: str = ""
    """What the entry raised, in one line."""

    @property
    def misnamed(self) -> bool:
        """True if there was no such entry, or none that can be called: then nothing was begun."""
        return bool(self.raised) and self.status == 2


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a device is not warm."""

    kind: str
    """`command`, `untold`, `empty`, `forward-only`, `unsaved`, `bypass`, `device`, `not-proven` or `partial`."""
    said: str
    remedy: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Warmed:
    """What became of one device."""

    device: str
    first: Run
    """The warm-up."""
    before: Warmth | None
    """What the cache held before; None where that could not be told."""
    after: Warmth | None
    again: Run | None = None
    """The proof; None if the warm-up has not come so far, or has itself started warm."""
    mark: int | None = None
    """Keys of AOTAutograd's that are remembered."""
    faults: tuple[Fault, ...] = ()

    @property
    def proof(self) -> Run:
        """The run that proves, or has to."""
        return self.again or self.first


@dataclass(frozen=True, slots=True)
class Cold:
    """A device that was not warmed and lacks keys."""

    device: str
    keys: int
    mark: int | None
    counts: bool
    """True if the warm-up is not complete without it."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a warm-up came to."""

    target: Target
    asked: Asked
    torch: str
    cache: str
    why: str
    """What decides that it is that cache."""
    share: int
    """Percent of a mark that are enough."""
    warmed: tuple[Warmed, ...]
    cold: tuple[Cold, ...] = ()
    unknown: str = ""
    """Why keys could not be counted by device, "" if they could."""
    state: str | None = None
    """What was wrong with the state."""
    saved: Saved | None = None
    unsaved: str = ""
    """Why no save was made that was asked for."""

    @property
    def proven(self) -> bool:
        """True if every device is warm."""
        return not any(each.faults for each in self.warmed) and not any(each.counts for each in self.cold)

    def status(self) -> int:
        """Return the exit status."""
        if not self.proven:
            return 1
        return 3 if self.unsaved or (self.unknown and self.asked.expect is not None) else 0
