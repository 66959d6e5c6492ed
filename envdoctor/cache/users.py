"""Who is using a cache: live processes with a file below it open or mapped, as far as /proc shows them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass

from envdoctor.errors import UsageError


@dataclass(frozen=True, slots=True)
class User:
    """A process and one thing that it uses."""

    pid: int
    name: str
    path: str


def users(root: str) -> Iterator[User]:
    """Yield the processes that use what lies below a directory, but for this one. Those of others may not be seen."""
    inside = os.path.realpath(root).encode("utf-8", "surrogateescape")
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid() and (used := _used(entry, inside)):
            yield User(int(entry), _name(entry), used.decode("utf-8", "surrogateescape"))


def _used(pid: str, inside: bytes) -> bytes | None:
    with contextlib.suppress(OSError):
        for descriptor in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                path = os.readlink(f"/proc/{pid}/fd/{descriptor}").encode("utf-8", "surrogateescape")
                if path == inside or path.startswith(inside + b"/"):
                    return path
    with contextlib.suppress(OSError), open(f"/proc/{pid}/maps", "rb") as stream:
        for line in stream:  # proc_pid_maps(5): the path is the sixth field
            if b" " + inside + b"/" in line:
                return line[line.index(inside) :].rstrip(b"\n")
    return None


def _name(pid: str) -> str:
    try:
        with open(f"/proc/{pid}/comm", "rb") as stream:
            return stream.read(64).decode("utf-8", "replace").strip()
    except OSError:
        return "?"


def refuse_in_use(root: str, what: str) -> None:
    """Raise UsageError naming the first process that uses a cache."""
    if not os.path.isdir(root):
        return
    found = next(users(root), None)
    if found:
        raise UsageError(
            f"{root}: is in use by process {found.pid} ({found.name}), which has {found.path} open; {what} once it ends"
        )
