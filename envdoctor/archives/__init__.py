"""From a lock to files: what a target is to get, fetched, and known by its bytes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Archive:
    """One wheel that a target is to get, as it lies in the store."""

    name: str
    """Normalised (PEP 503)."""
    version: str
    filename: str
    sha256: str
    """Of the wheel's bytes, hex."""
    path: str
    """Absolute."""
    size: int
    """Bytes."""
    built_from: str = ""
    """sha256 of the source archive it was built from here; "" for a wheel that the lock names itself."""
