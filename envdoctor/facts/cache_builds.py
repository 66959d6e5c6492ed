"""Builds of extensions in a cache: with which CUDA compiler each was made, and locks that a dead builder left."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from envdoctor.facts.cache_users import User
from envdoctor.system.reading import head

SHOWN = 50
_LIMIT = 1 << 20
_NVCC = re.compile(rb"^nvcc\s*=\s*(\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Build:
    """One extension that was built with nvcc."""

    folder: str
    nvcc: str
    """As its build.ninja names it."""


@dataclass(frozen=True, slots=True)
class Lock:
    """A file by which one process keeps the others from building the same extension."""

    path: str
    age: float
    """Seconds since it was made."""
    holders: tuple[User, ...] = ()
    """Processes that have something open in its directory, or work there: the builder, if it can be seen."""


def builds(files: Iterable[str]) -> tuple[Build, ...]:
    """Read build.ninja files; those without nvcc are left out."""
    found = ((path, _NVCC.search(head(path, _LIMIT))) for path in sorted(files)[:SHOWN])
    return tuple(Build(os.path.dirname(path), os.fsdecode(match[1])) for path, match in found if match)


def seen_locks(paths: Iterable[str], now: float) -> tuple[Lock, ...]:
    """Look at the age of locks; one that is gone meanwhile was released."""
    found = []
    for path in sorted(paths)[:SHOWN]:
        with contextlib.suppress(OSError):
            found.append(Lock(path, now - os.lstat(path).st_mtime))
    return tuple(found)


def locks(found: Iterable[Lock], users: Sequence[User]) -> tuple[Lock, ...]:
    """Say who holds each lock."""
    whole = []
    for lock in found:
        prefix = os.path.realpath(os.path.dirname(lock.path)) + "/"
        holders = tuple(user for user in users if f"{user.path}/".startswith(prefix) and user.how != "mapped")
        whole.append(replace(lock, holders=holders))
    return tuple(whole)
