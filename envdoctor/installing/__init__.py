"""From verified archives to a fresh venv, and the proof that it holds their bytes and nothing else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """A file that is not as the archives say, or that nobody brought."""

    name: str
    """Distribution, normalised; "" if it is nobody's."""
    path: str
    """Absolute."""
    how: str
    """What is wrong with it, one phrase that follows the path."""
