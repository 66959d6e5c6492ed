"""Which of the files that a lock records for a package a target gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from packaging.pylock import Package, PackageSdist, PackageWheel, Pylock, PylockSelectError
from packaging.tags import Tag
from packaging.utils import InvalidWheelFilename, NormalizedName, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from envdoctor.locks.text import ARCHIVES, TAGS, tag_count
from envdoctor.model import Artifact

STRONG = ("sha256", "sha384", "sha512")
"""Algorithms whose digests pip takes for a hash check (pip 26.3, utils/hashes.py), the store's own first."""
_SOURCES = tuple(suffix for suffix in ARCHIVES if suffix != ".whl")
NOTHING = "has neither a wheel for this target nor a source archive"


def strong(digests: Sequence[str]) -> tuple[str, ...]:
    """Return the digests that count, those by sha256 first."""
    known = [digest.lower() for digest in digests if digest.partition(":")[0].lower() in STRONG]
    return tuple(sorted(known, key=lambda digest: STRONG.index(digest.partition(":")[0])))


class Chooser:
    """Chooses for a target with these wheel tags, best first."""

    def __init__(self, tags: Sequence[str]) -> None:
        self._names = tags

    @cached_property
    def _tags(self) -> tuple[Tag, ...]:
        return tuple(Tag(*name.split("-")) for name in self._names)

    @cached_property
    def _ranks(self) -> Mapping[Tag, int]:
        return {tag: rank for rank, tag in enumerate(self._tags)}

    def rank(self, wheel: str) -> int | None:
        """Return how good a wheel is for the target, 0 for the best; None if it is for another one."""
        try:
            tags = parse_wheel_filename(wheel)[-1] if tag_count(wheel) <= TAGS else ()
        except (InvalidWheelFilename, InvalidVersion):
            return None
        return min((self._ranks[tag] for tag in tags if tag in self._ranks), default=None)

    def fits(self, wheel: str) -> bool:
        """Tell whether a wheel is for the target."""
        return self.rank(wheel) is not None

    def best(self, name: str, files: Sequence[Artifact]) -> Artifact | str:
        """Return the best wheel for the target, else the source archive, else say that there is neither."""
        by_name = {file.name: file for file in reversed(files)}
        wheels = [file for file in by_name if file.endswith(".whl") and self.fits(file)]
        source = next((file for suffix in _SOURCES for file in by_name if file.endswith(suffix)), None)
        if not wheels and source is None:
            return NOTHING
        package = Package(
            name=NormalizedName(name),
            wheels=[PackageWheel(name=file, path=file, hashes={"sha256": ""}) for file in wheels] or None,
            sdist=PackageSdist(name=source, path=source, hashes={"sha256": ""}) if source else None,
        )
        lock = Pylock(lock_version=Version("1.0"), created_by="envdoctor", packages=[package])
        try:
            ((_, chosen),) = lock.select(tags=self._tags)
        except PylockSelectError:
            return NOTHING
        return by_name[chosen.filename] if isinstance(chosen, PackageWheel | PackageSdist) else NOTHING
