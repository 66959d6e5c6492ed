"""Who uses a compile cache now: live processes with open files or maps below it, as far as they can be seen."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from envdoctor.system import processes

PROCESSES = 4096
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
        for path, how in processes.held(folder):
            where = path if how == "works there" else os.path.dirname(path)
            if f"{path}/".startswith(prefixes) and (pid, where) not in found:
                found[pid, where] = User(pid, processes.owner(folder), processes.command(folder), path, how)
    return tuple(found.values())


def below(found: Sequence[User], root: str) -> tuple[User, ...]:
    """Return the processes that have files below a directory open or mapped, each once; a shell's place is no use."""
    prefix = _prefix(root)
    using = [user for user in found if f"{user.path}/".startswith(prefix) and user.how != "works there"]
    return tuple({user.pid: user for user in reversed(using)}.values())[::-1]


def _prefix(root: str) -> str:
    return os.path.realpath(root).rstrip("/") + "/"


def _processes(proc: str) -> list[int]:
    own = {os.getpid(), os.getppid()}
    return [pid for pid in processes.pids(proc) if pid not in own][:PROCESSES]
