"""Whether a lock that was just made may take its place."""

from __future__ import annotations

from envdoctor import locks
from envdoctor.errors import LockError
from envdoctor.model import LockedPackage


def accepted(path: str) -> list[str]:
    """Return what is wrong with a lock, a line each; empty if it may be used."""
    try:
        lock = locks.read(path)
    except LockError as error:
        return [f"line {error.line}: {error.problem}" if error.line else error.problem]
    bare = [f"line {package.line}: {package.name} has no hash" for package in lock.packages if not _hashed(package)]
    return [*(f"line {problem.line}: {problem.message}" for problem in lock.problems), *bare]


def _hashed(package: LockedPackage) -> bool:
    return bool(package.hashes or any(artifact.hashes for artifact in package.artifacts))
