"""What is to be made, and what came of it as far as it came."""

from __future__ import annotations

from dataclasses import dataclass, field

from envdoctor.archives import Archive
from envdoctor.archives.narrowing import Narrowed
from envdoctor.archives.sources import Sources
from envdoctor.errors import StepError
from envdoctor.generations.layout import Layout
from envdoctor.installing.installers import Installer
from envdoctor.installing.proving import Proof
from envdoctor.locate import Wish
from envdoctor.rebuild.planning import Level, Plan
from envdoctor.rebuild.smoking import Smoked


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be made."""

    plan: Plan
    layout: Layout
    name: str
    """Of the generation."""
    narrowed: Narrowed
    sources: Sources
    installer: Installer
    wish: Wish
    smoke: Level
    devices: str | None = None
    force: bool = False
    allow_gap: bool = False

    @property
    def place(self) -> str:
        """Where the generation lies."""
        return self.layout.place(self.name)


@dataclass(slots=True)
class Made:
    """What came of it, as far as it came."""

    archives: tuple[Archive, ...] = ()
    proof: Proof | None = None
    smoked: Smoked | None = None
    switched: bool = False
    seconds: dict[str, float] = field(default_factory=dict)
    """By step."""
    notes: list[str] = field(default_factory=list)


class RedError(StepError):
    """The new environment is whole and not right: it is kept for inspection."""
