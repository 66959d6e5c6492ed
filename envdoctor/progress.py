"""Long work: what is being done, how far it is, and how the tools that do it are run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from envdoctor.system.host import Host

Step = Literal[
    "plan", "audit", "fetch", "build", "create", "install", "project", "verify", "compile", "freeze", "seal", "smoke",
    "complete", "switch",
]  # fmt: skip
"""Steps of long work, in their order."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a step is."""

    step: Step
    said: str = ""
    """What it is at, one phrase: a package, a file name."""
    done: int = 0
    total: int | None = None
    """None if it is not known."""
    unit: Literal["bytes", "files", "packages", ""] = ""


def silent(_: Progress) -> None:
    """Tell nobody."""


def unlogged(_: bytes) -> None:
    """Write nothing down."""


@dataclass(frozen=True, slots=True)
class Work:
    """What every step is given."""

    host: Host
    tell: Callable[[Progress], None] = silent
    log: Callable[[bytes], None] = unlogged
    """Takes everything that a tool prints, as it comes."""
    held: tuple[int, ...] = ()
    """Descriptors that every tool inherits: while one lives, the target's lock is held."""
    temporary: str = ""
    """Directory for a tool's temporary files; "" for the caller's own."""
