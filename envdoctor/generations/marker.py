"""The marker of a generation: written last, it says that everything in it was proven, or what was found wrong."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Literal

from envdoctor.codec import from_json, to_json
from envdoctor.system.host import write_all, write_atomically
from envdoctor.system.reading import regular

SCHEMA = 1
LIMIT = 16 << 20


@dataclass(frozen=True, slots=True)
class Built:
    """One package of a generation, and the archive that it came from."""

    name: str
    version: str
    filename: str
    sha256: str
    built_from: str = ""


@dataclass(frozen=True, slots=True)
class Marker:
    """What a generation is."""

    made_at: str
    """RFC 3339, UTC."""
    envdoctor: str
    host: str
    lock: str
    """Absolute path of the lock's origin."""
    lock_digest: str
    """sha256 of the lock, hex."""
    python: str
    installer: str
    """`uv 0.9.2`."""
    packages: tuple[Built, ...]
    files: int
    size: int
    """Bytes of all files that were proven."""
    smoke: str
    """What came of it, one phrase."""
    state: Literal["complete", "red"] = "complete"
    """`red`: kept for inspection, and never made active unasked."""
    why: str = ""
    """What was found wrong."""
    schema: int = SCHEMA


def path_of(place: str) -> str:
    """Return where the marker of a generation lies."""
    return os.path.join(place, ".envdoctor", "generation.json")


def write(place: str, marker: Marker) -> None:
    """Write it whole or not at all. Raises EnvDoctorError."""
    data = json.dumps(to_json(marker), indent=1).encode() + b"\n"
    write_atomically(path_of(place), lambda descriptor: write_all(descriptor, data))


def read(place: str) -> Marker | None:
    """Return a generation's marker; None if it has none that can be understood, which is no complete generation."""
    try:
        marker: Marker = from_json(Marker, json.loads(regular(path_of(place), LIMIT, follow=False)))
    except (OSError, ValueError, RecursionError):
        return None
    return marker if marker.schema == SCHEMA else None
