"""What an index says of the locked releases. No check asks one: `envdoctor lock audit --online` does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from envdoctor.model import Unavailable


@dataclass(frozen=True, slots=True)
class Listed:
    """One release as an index lists it."""

    files: Mapping[str, str] = field(default_factory=dict)
    """File name -> sha256, "" where the index gives none."""
    yanked: str | None = None
    """The reason given, "" for none given; None if it is not yanked."""


@dataclass(frozen=True, slots=True)
class Advisory:
    """A known vulnerability of a release."""

    id: str
    name: str
    version: str
    fixed: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    said: str = ""


@dataclass(frozen=True, slots=True)
class LockOnline:
    """Answers; what could not be looked up is unknown, never clean."""

    listed: Mapping[tuple[str, str], Listed] = field(default_factory=dict)
    """(normalised name, version) -> release."""
    unknown: Mapping[str, str] = field(default_factory=dict)
    """Name -> why nothing is known of it."""
    advisories: tuple[Advisory, ...] = ()
    advisories_problem: str = ""
    """Why vulnerabilities are not known, "" if they are."""


def view() -> LockOnline | Unavailable:
    """Say why nothing is known."""
    return Unavailable("offline: `envdoctor lock audit --online` asks the index")
