"""The lock's digests beside those that pip's index lists.

A release that the lock takes from another index is comparable only as far as both list the same bytes: an index of
builds of its own lists other files under the same names, and that is no fault of the lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from envdoctor.model import Lock, LockedPackage, Unavailable
from envdoctor.views.lock_online import Listed, ListedFile, LockOnline, Pin

SDISTS = (".tar.gz", ".zip", ".tar.bz2", ".tar.xz", ".tgz", ".tar")


@dataclass(frozen=True, slots=True)
class Compared:
    """One pin that the index lists."""

    package: LockedPackage
    listed: Listed
    digests: tuple[str, ...] = ()
    """The lock's, in lower case."""
    unlisted: tuple[str, ...] = ()
    """Those of them that are not the index's."""

    @property
    def chosen(self) -> tuple[ListedFile, ...]:
        """The listed files that the lock admits: by digest, all if none is known by its digest."""
        known = tuple(file for file in self.listed.files if not set(file.hashes).isdisjoint(self.digests))
        return known or self.listed.files

    @property
    def yanked(self) -> str | None:
        """Why what the lock admits was yanked, "" for no reason given; None if some file of it was not."""
        reasons = [file.yanked for file in self.chosen]
        return None if None in reasons or not reasons else next((reason for reason in reasons if reason), "")

    def unused_wheel(self, tags: frozenset[str]) -> str | None:
        """Return a listed wheel for an environment with these tags, where the lock admits nothing but sdists of it."""
        known = [file.name for file in self.chosen if file.hashes]
        if not self.digests or self.chosen == self.listed.files or not all(name.endswith(SDISTS) for name in known):
            return None
        wheels = (file for file in self.listed.files if file.name.endswith(".whl") and file.yanked is None)
        return next((file.name for file in wheels if not tags.isdisjoint(_tags(file.name))), None)


@dataclass(frozen=True, slots=True)
class LockListed:
    """All pins from an index."""

    pins: tuple[Compared, ...] = ()
    unlisted: Mapping[Pin, str] = field(default_factory=dict)
    """Pin -> why it is not known what the index lists."""
    uncompared: Mapping[Pin, str] = field(default_factory=dict)
    """Pin that has digests -> why they could not be compared: these, and for other reasons."""


def view(lock: Lock, lock_online: LockOnline) -> LockListed | Unavailable:
    """Compare every pin."""
    if lock_online.index_problem:
        return Unavailable(lock_online.index_problem, failed=True)
    pins: list[Compared] = []
    unlisted: dict[Pin, str] = {}
    uncompared: dict[Pin, str] = {}
    for package in lock.packages:
        pin = (package.name, package.version or "")
        listed = lock_online.listed.get(pin)
        digests = _digests(package)
        why = lock_online.unknown.get(pin, "")
        if listed is None:
            if why:
                unlisted[pin] = why
        else:
            why = why or _incomparable(lock, package, digests, listed, lock_online.indexes)
            odd = (
                () if why else _unlisted(package, digests, listed, foreign=_foreign(lock, package, lock_online.indexes))
            )
            pins.append(Compared(package, listed, digests, odd))
        if why and digests:
            uncompared[pin] = why
    return LockListed(tuple(pins), unlisted, uncompared)


def _digests(package: LockedPackage) -> tuple[str, ...]:
    named = (digest for artifact in package.artifacts for digest in artifact.hashes)
    return tuple(dict.fromkeys(digest.lower() for digest in (*package.hashes, *named)))


def _known(listed: Listed) -> frozenset[str]:
    return frozenset((*listed.others, *(digest for file in listed.files for digest in file.hashes)))


def _incomparable(
    lock: Lock, package: LockedPackage, digests: tuple[str, ...], listed: Listed, indexes: tuple[str, ...]
) -> str:
    """Say why the digests that the index does not list may be right all the same, "" if they may not."""
    odd = [digest for digest in digests if digest not in _known(listed)]
    if not odd:
        return ""
    algorithms = {digest.partition(":")[0] for digest in odd}
    for file in listed.files:
        if missing := algorithms - {digest.partition(":")[0] for digest in file.hashes}:
            return f"the index gives no {'/'.join(sorted(missing))} of {file.name}"
    if len(odd) == len(digests) and _foreign(lock, package, indexes):
        return "the lock takes it from another index than pip's, which lists other files"
    return ""


def _unlisted(package: LockedPackage, digests: tuple[str, ...], listed: Listed, *, foreign: bool) -> tuple[str, ...]:
    """Return the digests that are wrong; of another index's files only those of a file that both list."""
    known = _known(listed)
    odd = tuple(digest for digest in digests if digest not in known)
    if not (foreign and package.artifacts):
        return odd
    names = {file.name for file in listed.files}
    of_both = {digest.lower() for item in package.artifacts if item.name in names for digest in item.hashes}
    return tuple(digest for digest in odd if digest in of_both)


def _foreign(lock: Lock, package: LockedPackage, indexes: Iterable[str]) -> bool:
    """Tell whether the lock says that the release comes from elsewhere than the indexes that were asked."""
    recorded = [package.url] if package.url else list(lock.indexes)
    if not recorded:
        return any(artifact.url for artifact in package.artifacts)
    return not {_plain(address) for address in recorded} <= {_plain(address) for address in indexes}


def _plain(address: str) -> str:
    """Return an address without credentials and final slash."""
    scheme, separator, rest = address.rpartition("://")
    place, slash, path = rest.partition("/")
    return f"{scheme}{separator}{place.rpartition('@')[2]}{slash}{path}".rstrip("/").lower()


def _tags(name: str) -> frozenset[str]:
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

    try:
        return frozenset(str(tag) for tag in parse_wheel_filename(name)[3])
    except InvalidWheelFilename:
        return frozenset()
