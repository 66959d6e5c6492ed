"""What lies in an environment that no lock brings back, and how large it all is: one walk over its files."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from envdoctor.facts import records

USUAL = frozenset(
    {"bin", "etc", "include", "lib", "lib64", "share", "man", "pyvenv.cfg", "lib32"}
    | {".envdoctor", ".gitignore", ".lock", "CACHEDIR.TAG", "Lib", "Scripts", "Include"}
)
"""What venv, virtualenv, uv and wheels put at the top of an environment."""
SAID = {
    "src": "repositories that pip cloned for editable installs",
    "pip.conf": "settings of its pip; what they say of indexes counts for this rebuild, copy it to keep them",
}
"""What is to be said of some of the others."""
OWN = re.compile(r"python[\d.]*t?|[Aa]ctivate.*|deactivate.*|pydoc\.bat|__pycache__")
"""What venv, virtualenv and uv put into bin."""
ACTIVATE = ("activate", "activate.csh", "activate.fish")
TOGETHER = 2.0
"""Seconds within which all activate scripts are written."""
LATER = 60.0
"""Seconds after pyvenv.cfg by which an activate script is written at most; one that is younger was changed."""


@dataclass(frozen=True, slots=True)
class Left:
    """One thing that stays behind."""

    what: Literal["directory", "file", "changed script"]
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
    return Leavings(size, files, (*_directories(prefix), *_commands(prefix), *_scripts(prefix)))


def _directories(prefix: str) -> Iterator[Left]:
    for name in sorted(os.listdir(prefix)):
        if name not in USUAL:
            path = os.path.join(prefix, name)
            yield Left("directory" if os.path.isdir(path) else "file", path, SAID.get(name, ""))


def _scripts(prefix: str) -> Iterator[Left]:
    """Yield activate scripts that were changed by hand: all are written in one moment, and so is pyvenv.cfg at last."""
    times = {name: _modified(os.path.join(prefix, "bin", name)) for name in ACTIVATE}
    written = min((moment for moment in times.values() if moment is not None), default=0.0)
    made = _modified(os.path.join(prefix, "pyvenv.cfg")) or written
    for name, changed in times.items():
        if changed is not None and (changed > written + TOGETHER or changed > made + LATER):
            path = os.path.join(prefix, "bin", name)
            yield Left("changed script", path, "was changed after the environment was made; keep what was added to it")


def _modified(path: str) -> float | None:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return None


def _commands(prefix: str) -> Iterator[Left]:
    """Yield what lies in bin and belongs to neither the venv nor a package."""
    folder = os.path.join(prefix, "bin")
    metadata = glob.glob(f"{glob.escape(prefix)}/lib/python3*/site-packages/*.dist-info")
    owned = {os.path.basename(path) for info in metadata for path in records.paths(info) if "/bin/" in path}
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        if name not in owned and not OWN.fullmatch(name):
            yield Left("file", os.path.join(folder, name), "belongs to no package")
