"""What one lock holds: pins, sources, digests, sizes, and what made it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from envdoctor.model import Artifact, Lock, LockedPackage
from envdoctor.review.askers import askers
from envdoctor.review.aspects import digests

FETCHED = ("index", "url")
"""Sources whose files a digest can vouch for."""


@dataclass(frozen=True, slots=True)
class Hashed:
    """How far digests vouch for the pins that are files of an index or an address."""

    pins: int
    """How many pins there are to hash."""
    whole: int
    """Pins with a digest for whatever may be installed of them."""
    partly: int
    """Pins of which some file has a digest and another has none."""
    algorithms: Mapping[str, int]
    """Algorithm -> pins that have a digest of it."""


@dataclass(frozen=True, slots=True)
class Download:
    """What has to be fetched, bytes: one file of every name, with every group and extra, cached by nobody."""

    least: int
    """The smallest file of each name."""
    most: int
    """The largest file of each name; a universal lock has one for every platform."""
    known: int
    """Names whose sizes the lock records."""
    unknown: int
    """Names of which a file has no recorded size; they are in neither sum."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A pin, and who wants it."""

    pin: LockedPackage
    wanted_by: tuple[str, ...]
    direct: bool | None
    """Whether the project itself wants it; None if the lock does not say."""
    digests: int
    size: tuple[int, int] | None
    """Smallest and largest file, bytes; None if unknown."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What one lock holds."""

    lock: Lock
    pins: int
    names: int
    """Fewer than pins where a name has several, told apart by markers."""
    forked: tuple[str, ...]
    """Names that have several pins."""
    sources: Mapping[str, int]
    """Kind of source -> pins."""
    indexes: Mapping[str, int | None]
    """Index -> pins that are recorded to come from it; None where pins do not record their index."""
    hashed: Hashed
    download: Download | None
    """None where no size is recorded."""
    entries: tuple[Entry, ...]


def summary(lock: Lock) -> Summary:
    """Sum up a lock."""
    pins = [package for package in lock.packages if package.name]
    names = Counter(package.name for package in pins)
    return Summary(
        lock=lock,
        pins=len(pins),
        names=len(names),
        forked=tuple(sorted(name for name, count in names.items() if count > 1)),
        sources=dict(Counter(package.source for package in pins).most_common()),
        indexes=_indexes(lock, pins),
        hashed=_hashed([package for package in pins if package.source in FETCHED]),
        download=_download([package for package in pins if package.source in FETCHED]),
        entries=tuple(_entries(lock, pins)),
    )


def _indexes(lock: Lock, pins: Iterable[LockedPackage]) -> Mapping[str, int | None]:
    """Return the indexes that options name first, then those that only pins record."""
    recorded = Counter(pin.url for pin in pins if pin.source == "index" and pin.url)
    named = dict.fromkeys((*lock.indexes, *recorded))
    return {index: recorded[index] if recorded else None for index in named}


def _hashed(pins: Iterable[LockedPackage]) -> Hashed:
    pins = tuple(pins)
    states = Counter(map(_state, pins))
    algorithms = Counter(name for pin in pins for name in {digest.partition(":")[0] for digest in digests((pin,))})
    return Hashed(len(pins), states["whole"], states["partly"], dict(algorithms.most_common()))


def _state(pin: LockedPackage) -> str:
    if pin.hashed:
        return "whole"
    return "partly" if any(artifact.hashes for artifact in pin.artifacts) else "none"


def _download(pins: Iterable[LockedPackage]) -> Download | None:
    files: dict[str, list[Artifact]] = {}
    for pin in pins:
        files.setdefault(pin.name, []).extend(_installed(pin))
    ranges = [_range(found) for found in files.values()]
    known = [pair for pair in ranges if pair is not None]
    if not known:
        return None
    least, most = (sum(pair[at] for pair in known) for at in (0, 1))
    return Download(least, most, len(known), len(ranges) - len(known))


def _installed(pin: LockedPackage) -> Iterable[Artifact]:
    """Return the files that installers choose from: an sdist only where there is no wheel."""
    wheels = [artifact for artifact in pin.artifacts if artifact.name.endswith(".whl")]
    return wheels or pin.artifacts


def _range(files: Iterable[Artifact]) -> tuple[int, int] | None:
    sizes = [artifact.size for artifact in files]
    known = [size for size in sizes if size is not None]
    return (min(known), max(known)) if known and len(known) == len(sizes) else None


def _entries(lock: Lock, pins: Iterable[LockedPackage]) -> Iterator[Entry]:
    says = askers(lock)
    for pin in sorted(pins, key=lambda pin: pin.name):
        yield Entry(pin, says.of(pin), says.direct(pin), len(digests((pin,))), _range(_installed(pin)))
