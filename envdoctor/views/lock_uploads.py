"""When the files of each locked release were uploaded, where the lock says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from envdoctor.locks.environments import LockEnvironment
from envdoctor.model import Artifact, Lock, LockedPackage, Unavailable
from envdoctor.views.lock_targets import LockTargets

UNKNOWN = Unavailable("the lock records no upload times")


@dataclass(frozen=True, slots=True)
class Upload:
    """The youngest file of a package that may be installed."""

    package: LockedPackage
    file: Artifact
    at: datetime


@dataclass(frozen=True, slots=True)
class LockUploads:
    """One a package of which a time is known."""

    youngest: tuple[Upload, ...]


def view(lock: Lock, lock_targets: LockTargets | Unavailable) -> LockUploads | Unavailable:
    """Find them, among the files that fit an environment that is judged, or among all if there is none."""
    if not any(file.uploaded for package in lock.packages for file in package.artifacts):
        return UNKNOWN
    environments = () if isinstance(lock_targets, Unavailable) else lock_targets.environments
    fitting = _tags(environments)
    return LockUploads(tuple(upload for package in lock.packages for upload in _youngest(package, fitting)))


def _tags(environments: Iterable[LockEnvironment]) -> frozenset[str] | None:
    """Return the wheel tags that fit any of them, None if that is not known of each."""
    tags = [environment.tags() for environment in environments]
    known = [each for each in tags if each is not None]
    return frozenset[str]().union(*known) if known and len(known) == len(tags) else None


def _youngest(package: LockedPackage, fitting: frozenset[str] | None) -> Iterator[Upload]:
    timed = [(file, at) for file in _usable(package.artifacts, fitting) if (at := _moment(file.uploaded))]
    if timed:
        yield Upload(package, *max(timed, key=lambda item: item[1]))


def _usable(files: Iterable[Artifact], fitting: frozenset[str] | None) -> list[Artifact]:
    """Return what an installer may choose: wheels that fit, else sdists; all where nothing says what fits."""
    files = tuple(files)
    if fitting is None:
        return list(files)
    wheels = [file for file in files if file.name.endswith(".whl")]
    return [file for file in wheels if _fits(file.name, fitting)] or [file for file in files if file not in wheels]


def _fits(name: str, fitting: frozenset[str]) -> bool:
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

    try:
        tags = parse_wheel_filename(name)[3]
    except InvalidWheelFilename:
        return True
    return any(str(tag) in fitting for tag in tags)


def _moment(text: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(text or "")
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
