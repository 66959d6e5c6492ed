"""What an index says of the locked releases. No check asks one: `envdoctor lock audit --online` does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from envdoctor.model import Unavailable

Pin = tuple[str, str]
"""Normalised name, and version as the lock writes it."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    """One file as an index lists it."""

    name: str
    hashes: tuple[str, ...] = ()
    """As `alg:hex`, in lower case; none where the index gives none."""
    yanked: str | None = None
    """The reason given (PEP 592), "" for none given; None if it is not yanked."""
    uploaded: str | None = None
    """Upload time, RFC 3339, where the index gives it (PEP 700)."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One release as an index lists it: the files that a pin of it admits."""

    files: tuple[ListedFile, ...]
    others: tuple[str, ...] = ()
    """Digests of the project's files whose names do not tell of which release they are."""
    whole: bool = True
    """False if these are not all its files: the index could not be read, and pip told of the one that it would take."""


@dataclass(frozen=True, slots=True)
class Advisory:
    """A known vulnerability of a release."""

    id: str
    name: str
    """Normalised name of the project."""
    version: str
    """As the lock writes it."""
    fixed: tuple[str, ...] = ()
    """Releases that do not have it any more, oldest first."""
    aliases: tuple[str, ...] = ()
    score: float | None = None
    """CVSS base score; None where the answer has none."""


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a resolver would install for a lock's pins in one environment."""

    environment: str
    extra: tuple[str, ...] = ()
    """Normalised names that it would install beside the pins."""
    conflict: str = ""
    """What it says if the pins do not fit together."""
    problem: str = ""
    """Why nothing was learned."""


@dataclass(frozen=True, slots=True)
class LockOnline:
    """Answers; what could not be looked up is unknown, never clean."""

    indexes: tuple[str, ...] = ()
    """Addresses that were asked, without credentials."""
    listed: Mapping[Pin, Listed] = field(default_factory=dict)
    unknown: Mapping[Pin, str] = field(default_factory=dict)
    """Pin -> why the index is not known to list it, or what it lists is not known as a whole."""
    index_problem: str = ""
    """Why no index could be asked at all, "" if one could."""
    advisories: tuple[Advisory, ...] = ()
    unaudited: Mapping[Pin, str] = field(default_factory=dict)
    """Pin -> why its vulnerabilities are not known."""
    advisories_problem: str = ""
    """Why vulnerabilities are not known at all, "" if they are."""
    dry_run: DryRun | None = None
    """Whether the pins are all that is needed; None where metadata at hand says it, or the lock's own graph."""


def view() -> LockOnline | Unavailable:
    """Say why nothing is known."""
    return Unavailable("offline: `envdoctor lock audit --online` asks the index")
