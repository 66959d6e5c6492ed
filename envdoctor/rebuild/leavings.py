"""What lies in an environment that no lock brings back, and how large it all is: one walk over its files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

USUAL = frozenset(
    {"bin", "etc", "include", "lib", "lib64", "share", "man", "pyvenv.cfg", "pip.conf", "conf", "lib32"}
    | {".envdoctor", ".gitignore", ".lock", "CACHEDIR.TAG", "Lib", "Scripts", "Include"}
)
"""What venv, virtualenv, uv and wheels put at the top of an environment."""
ACTIVATE = ("activate", "activate.csh", "activate.fish")
LATER = 60.0
"""Seconds after pyvenv.cfg by which an activate script is written at most; one that is younger was changed."""


@dataclass(frozen=True, slots=True)
class Left:
    """One thing that stays behind."""

    what: Literal["directory", "changed script"]
    path: str
    said: str


@dataclass(frozen=True, slots=True)
class Leavings:
    """What an environment holds."""

    size: int
    """Bytes that it takes on the disk."""
    files: int
    left: tuple[Left, ...]


def leavings(prefix: str) -> Leavings:
    """Walk an environment. Raises OSError if it cannot be read."""
    size = files = 0
    pending = [prefix]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                else:
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                    files += 1
    return Leavings(size, files, (*_directories(prefix), *_scripts(prefix)))


def _directories(prefix: str) -> Iterator[Left]:
    for name in sorted(os.listdir(prefix)):
        if name not in USUAL:
            said = "repositories that pip cloned for editable installs" if name == "src" else ""
            yield Left("directory", os.path.join(prefix, name), said)


def _scripts(prefix: str) -> Iterator[Left]:
    """Yield activate scripts that were changed by hand, as far as their times tell."""
    try:
        made = os.stat(os.path.join(prefix, "pyvenv.cfg")).st_mtime
    except OSError:
        return
    for name in ACTIVATE:
        path = os.path.join(prefix, "bin", name)
        try:
            changed = os.stat(path).st_mtime
        except OSError:
            continue
        if changed > made + LATER:
            yield Left("changed script", path, "was changed after the environment was made; keep what was added to it")
