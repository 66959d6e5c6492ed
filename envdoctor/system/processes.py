"""What /proc says of the processes of this machine (proc(5)), as far as this one may see it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from envdoctor.system.people import user_name

HOST_NAMESPACE = "pid:[4026531836]"
"""The first PID namespace of a machine: PROC_PID_INIT_INO in the kernel's include/linux/proc_ns.h."""
KERNEL_THREAD = 0x00200000
"""PF_KTHREAD of the flags in `stat`: include/linux/sched.h."""
DESCRIPTORS = 4096
"""Of one process that are looked at."""
MAPS_LIMIT = 4 << 20
"""Bytes of one process's maps."""
_TEXT_LIMIT = 1 << 20
"""Bytes of a command line or of an environment."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What `stat` says of a process."""

    command: str
    """The kernel's short name of it; arguments may hold secrets."""
    state: str
    """One letter: `R`, `S`, `D`, `Z` for a zombie, `X` for one that is gone."""
    parent: int
    kernel: bool
    """True if it is a thread of the kernel's own."""


def pids(proc: str = "/proc") -> list[int]:
    """Return the processes that can be seen; none if there is no such folder."""
    try:
        return [int(name) for name in os.listdir(proc) if name.isdigit()]
    except OSError:
        return []


def standing(folder: str) -> Standing | None:
    """Read `stat` of a process; None if it is gone. Its name may hold blanks and parentheses."""
    text = _read(f"{folder}/stat", 4096).decode(errors="replace")
    rest = text[text.rfind(")") + 1 :].split()
    if not rest:
        return None
    numbers = [int(word) if word.isdigit() else 0 for word in (*rest[1:2], *rest[6:7])]
    parent, flags = (*numbers, 0, 0)[:2]
    return Standing(text[text.find("(") + 1 : text.rfind(")")], rest[0], parent, bool(flags & KERNEL_THREAD))


def command(folder: str) -> str:
    """Return the kernel's short name of a process; arguments may hold secrets."""
    return _read(f"{folder}/comm", 64).decode(errors="replace").strip()


def owner(folder: str) -> str:
    """Return the user whose process it is, "" if it is gone."""
    try:
        return user_name(os.stat(folder).st_uid)
    except OSError:
        return ""


def arguments(folder: str) -> tuple[str, ...]:
    """Return the command line, which everybody may read unless /proc hides it; () for a zombie. Never to be printed."""
    data = _read(f"{folder}/cmdline", _TEXT_LIMIT)
    return tuple(os.fsdecode(part) for part in data.removesuffix(b"\0").split(b"\0")) if data else ()


def variables(folder: str) -> Mapping[str, str] | None:
    """Return the environment that a process was started with, None if it may not be read. Never to be printed."""
    try:
        with open(f"{folder}/environ", "rb") as stream:
            data = stream.read(_TEXT_LIMIT)
    except OSError:
        return None
    pairs = (part.partition(b"=") for part in data.split(b"\0"))
    return {os.fsdecode(name): os.fsdecode(value) for name, equals, value in pairs if equals}


def held(folder: str) -> Iterator[tuple[str, str]]:
    """Yield (path, how) of what a process holds: `open`, `mapped`, `works there`.

    Those of other users cannot be seen without privilege, and yield nothing.
    """
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


def link(path: str) -> str | None:
    """Return what a link of /proc (`exe`, `cwd`, `ns/mnt`) says, None if it may not be read or is gone."""
    try:
        return os.readlink(path)
    except OSError:
        return None


def hidden(proc: str = "/proc") -> str | None:
    """Say why other processes may be invisible: another PID namespace, or a /proc mounted with hidepid (proc(5))."""
    try:
        namespace = os.readlink(f"{proc}/self/ns/pid")
    except OSError as error:
        return f"the PID namespace cannot be told: {error.strerror}"
    if namespace != HOST_NAMESPACE:
        return "outside the host's PID namespace"
    if not os.path.isdir(f"{proc}/1"):  # always there, and root's
        return "/proc hides the processes of other users (hidepid)"
    return None


def _read(path: str, limit: int) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(limit)
    except OSError:
        return b""
