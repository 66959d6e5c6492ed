"""The nouns of a history: what happened, in JSON values as far as they go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["created", "sealed", "edited", "startup", "changed"]


@dataclass(frozen=True, slots=True)
class Named:
    """A package that was installed."""

    name: str
    version: str | None
    requested: bool
    """True if its installer recorded that it was asked for by name; uv records that of all."""

    @property
    def label(self) -> str:
        """`name version`, for sentences."""
        return f"{self.name} {self.version}" if self.version else self.name


@dataclass(frozen=True, slots=True)
class Moved:
    """A package that was installed in another version than something says that there was."""

    name: str
    was: str
    now: str
    by: str
    """What says so: `lock`, `seal`, or the package that requires exactly that version."""

    @property
    def recorded(self) -> bool:
        """True if a lock or a seal says what there was, and not only what another package would need."""
        return self.by in ("lock", "seal")


@dataclass(frozen=True, slots=True)
class Overwrote:
    """Files of one package that another one overwrote."""

    name: str
    """Who wrote."""
    of: str
    """Whose files they were."""
    paths: tuple[str, ...]
    """Relative to site-packages."""


@dataclass(frozen=True, slots=True)
class Installed:
    """One install batch."""

    at: float
    """When its first file was written, seconds since the epoch."""
    until: float
    """When its last RECORD was written."""
    installer: str | None
    roots: tuple[Named, ...]
    """What the others came for."""
    added: tuple[Named, ...]
    """What is neither a root nor moved."""
    moved: tuple[Moved, ...]
    """Roots may be among them."""
    overwrote: tuple[Overwrote, ...]
    foreign: tuple[str, ...]
    """Names among all these that the lock does not have; empty without a lock."""
    stacks: tuple[str, ...]
    """Names among all these that belong to serving stacks and not to the lock."""
    locked: int
    """How many of all these are as the lock has them."""
    first: bool
    """True if nothing is known to have been there before, except what a venv begins with."""

    @property
    def repurposed(self) -> bool:
        """True if the environment served another purpose from here on."""
        odd_root = any(root.name in self.foreign for root in self.roots)
        moved = any(move.recorded for move in self.moved)
        return not self.first and (bool(self.stacks) or (odd_root and moved))


@dataclass(frozen=True, slots=True)
class Noted:
    """Anything else that a time on disk tells."""

    kind: Kind
    at: float
    """Seconds since the epoch."""
    subject: str
    """A package, or a path."""
    what: str
    """One phrase."""
    paths: tuple[str, ...] = ()
    count: int = 0
    """How many paths there are in all."""


@dataclass(frozen=True, slots=True)
class Gone:
    """Something that was there by all accounts, and is not any more; nothing tells since when."""

    name: str
    """A package, or the path of what is left of one."""
    version: str | None
    evidence: tuple[str, ...]
    """Phrases: `the lock has it`, `accelerate requires it`."""
    recorded: bool = True
    """False if it is only required, so that it may never have been there."""


@dataclass(frozen=True, slots=True)
class History:
    """All that can be told."""

    events: Sequence[Installed | Noted]
    """Oldest first."""
    gone: tuple[Gone, ...]
    undated: tuple[str, ...]
    """Names of packages whose times prove nothing."""
    timeless: str | None
    """Why they prove nothing."""
    unknown: tuple[str, ...]
    """What could not be told, and why: sentences."""

    @property
    def batches(self) -> tuple[Installed, ...]:
        """The installations among the events."""
        return tuple(event for event in self.events if isinstance(event, Installed))
