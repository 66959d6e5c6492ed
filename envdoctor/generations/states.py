"""How an environment was when it ceased to be the active one, file by file, so that a way back is known to lead there.

One record a file, ended by NUL: size, mtime, ctime (0 where other links to the file exist: those move it), mode, path.
Byte code is left out, which running jobs may still write, and so is envdoctor's own folder.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from envdoctor.system.host import write_all, write_atomically
from envdoctor.system.reading import regular

LIMIT = 512 << 20
"""Bytes of a record; 70,000 files take 9 MB."""
SHOWN = 20
_APART = frozenset({"__pycache__", ".envdoctor"})


@dataclass(frozen=True, slots=True)
class Difference:
    """What is not as it was."""

    count: int
    examples: tuple[str, ...]
    """`lib/...: altered`, at most `SHOWN`."""

    @property
    def said(self) -> str:
        """How many, and the first."""
        return f"{self.count:,} file{'s differ' if self.count > 1 else ' differs'}, first {self.examples[0]}"


def record(place: str, path: str) -> int:
    """Write down how an environment is; return the count of its files. Raises OSError and EnvDoctorError."""
    lines = [f"{said} {name}" for name, said in _files(place)]
    data = os.fsencode("\0".join(lines))
    write_atomically(path, lambda descriptor: write_all(descriptor, data))
    return len(lines)


def compare(place: str, path: str) -> Difference | None:
    """Return what differs from a record, None if nothing does.

    Raises OSError if there is no record, or the environment cannot be read; ValueError if it is no record.
    """
    then: dict[str, str] = {}
    for line in os.fsdecode(regular(path, LIMIT)).split("\0"):
        *figures, name = line.split(" ", 4)
        then[name] = " ".join(figures)
    found: list[str] = []
    for name, said in _files(place):
        before = then.pop(name, None)
        if before is None:
            found.append(f"{name}: added")
        elif not _same(before, said):
            found.append(f"{name}: altered")
    found += [f"{name}: gone" for name in then if name]
    return Difference(len(found), tuple(sorted(found)[:SHOWN])) if found else None


def _same(before: str, now: str) -> bool:
    """Compare figures; a ctime that was not kept, or is not now, counts as the same."""
    if before == now:
        return True
    old, new = before.split(" "), now.split(" ")
    if len(old) == len(new) and "0" in (old[2], new[2]):
        old[2] = new[2] = "0"
    return old == new


def _files(place: str) -> Iterator[tuple[str, str]]:
    """Yield every file and link below a directory with its figures."""
    pending = [""]
    while pending:
        folder = pending.pop()
        with os.scandir(os.path.join(place, folder)) as entries:
            for entry in entries:
                name = os.path.join(folder, entry.name)
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _APART:
                        pending.append(name)
                    continue
                if not entry.name.endswith(".pyc"):
                    yield name, _figures(entry.stat(follow_symlinks=False))


def _figures(status: os.stat_result) -> str:
    changed = status.st_ctime_ns if status.st_nlink == 1 else 0
    return f"{status.st_size} {status.st_mtime_ns} {changed} {stat.S_IMODE(status.st_mode):o}"
