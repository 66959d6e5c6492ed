"""Who uses a compile cache now: live processes with open files or maps below it, as far as they can be seen."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from envdoctor.system.people import user_name

PROCESSES = 4096
DESCRIPTORS = 4096
"""Of one process."""
MAPS_LIMIT = 4 << 20
"""Bytes of one process's maps."""
HELD = 4096
"""Answers that are kept."""


@dataclass(frozen=True, slots=True)
class User:
    """A process that has something of a cache open."""

    pid: int
    user: str
    command: str
    """The kernel's short name of it; arguments may hold secrets."""
    path: str
    """What it has open, mapped, or works in."""
    how: str
    """`open`, `mapped` or `works there`."""


def users(roots: Sequence[str], *, seconds: float, proc: str = "/proc") -> tuple[User, ...]:
    """Return who holds anything below these directories: one of each process and directory that it holds files of."""
    ends = time.monotonic() + seconds
    found: dict[tuple[int, str], User] = {}
    prefixes = tuple(_prefix(root) for root in roots)
    for pid in _processes(proc):
        if time.monotonic() > ends or len(found) >= HELD:
            break
        folder = f"{proc}/{pid}"
        for path, how in _held(folder):
            where = path if how == "works there" else os.path.dirname(path)
            if f"{path}/".startswith(prefixes) and (pid, where) not in found:
                found[pid, where] = User(pid, _owner(folder), _command(folder), path, how)
    return tuple(found.values())


def below(found: Sequence[User], root: str) -> tuple[User, ...]:
    """Return the processes that have files below a directory open or mapped, each once; a shell's place is no use."""
    prefix = _prefix(root)
    using = [user for user in found if f"{user.path}/".startswith(prefix) and user.how != "works there"]
    return tuple({user.pid: user for user in reversed(using)}.values())[::-1]


def _prefix(root: str) -> str:
    return os.path.realpath(root).rstrip("/") + "/"


def _processes(proc: str) -> Iterator[int]:
    own = {os.getpid(), os.getppid()}
    try:
        names = os.listdir(proc)
    except OSError:
        return
    yield from [pid for pid in map(int, filter(str.isdigit, names)) if pid not in own][:PROCESSES]


def _held(folder: str) -> Iterator[tuple[str, str]]:
    """Yield what a process holds. Those of other users cannot be seen without privilege."""
    try:
        for name in os.listdir(f"{folder}/fd")[:DESCRIPTORS]:
            try:
                yield os.readlink(f"{folder}/fd/{name}"), "open"
            except OSError:
                continue
        with open(f"{folder}/maps", "rb") as stream:
            maps = stream.read(MAPS_LIMIT)
        yield os.readlink(f"{folder}/cwd"), "works there"
    except OSError:
        return
    for path in {line[line.index(b"/") :] for line in maps.splitlines() if b"/" in line}:
        yield os.fsdecode(path).removesuffix(" (deleted)"), "mapped"


def _owner(folder: str) -> str:
    try:
        return user_name(os.stat(folder).st_uid)
    except OSError:
        return ""


def _command(folder: str) -> str:
    try:
        with open(f"{folder}/comm", "rb") as stream:
            return stream.read(64).decode(errors="replace").strip()
    except OSError:
        return ""
