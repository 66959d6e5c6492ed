"""How far one version is from another (PEP 440)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from packaging.version import Version

Step = Literal["same", "major", "minor", "patch", "build", "other"]
"""`build`: the same release with another local label (+cu128, +cu130). `other`: what cannot be compared as versions."""


def step(old: Iterable[str | None], new: Iterable[str | None]) -> tuple[Step, bool]:
    """Return how far the highest version moved, and whether it moved down.

    None is a version that the lock leaves out (a commit, a folder): it is the same as None alone.
    """
    before, after = set(old), set(new)
    if before == after:
        return "same", False
    one, other = _highest(before), _highest(after)
    if one is None or other is None:
        return "other", False
    return _distance(one, other), other < one


def _highest(versions: set[str | None]) -> Version | None:
    """Return the highest of some versions; None if one is left out or is no version."""
    from packaging.version import Version

    try:
        return max(map(Version, (version or "" for version in versions)), default=None)
    except ValueError:  # InvalidVersion, and numbers of thousands of digits
        return None


def _distance(old: Version, new: Version) -> Step:
    if old == new:
        return "same"
    if (old.epoch, old.major) != (new.epoch, new.major):
        return "major"
    if old.minor != new.minor:
        return "minor"
    return "build" if old.public == new.public else "patch"
