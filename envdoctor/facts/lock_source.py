"""What a lock was compiled from: the files beside it that ask for packages, as far as the lock or custom names them.

Looked at are files below the lock's own directory, and the nearest pyproject.toml above a uv.lock.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from envdoctor.errors import LockError
from envdoctor.locks import files, lines, options
from envdoctor.locks.text import normalised
from envdoctor.locks.toml import Document, table_of, text_of, texts_of
from envdoctor.model import Lock, Target, Unavailable
from envdoctor.system.host import Host

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_INPUTS = (".in", ".txt", "pyproject.toml", "setup.py", "setup.cfg")


@dataclass(frozen=True, slots=True)
class Wanted:
    """One requirement of an input."""

    name: str
    """Normalised."""
    text: str
    """As written: `torch>=2.9 ; sys_platform == 'linux'`."""
    line: int = 0
    group: str = ""
    """`group:dev` or `extra:gpu` where only that asks for it."""


@dataclass(frozen=True, slots=True)
class Input:
    """One file that a lock was compiled from."""

    path: str
    digest: str
    """sha256 of its bytes, hex."""
    wanted: tuple[Wanted, ...] = ()


@dataclass(frozen=True, slots=True)
class LockSource:
    """All inputs that are there."""

    inputs: tuple[Input, ...]
    missing: tuple[str, ...] = ()
    """Inputs that the lock names and that are not there."""


def collect(target: Target, host: Host, lock: Lock) -> LockSource | Unavailable:  # noqa: ARG001 - every collector's shape
    """Find and read them."""
    folder = os.path.dirname(os.path.abspath(lock.path))
    names = ("pyproject.toml",) if lock.format == "uv" else tuple(named_inputs(lock))
    if not names:
        return Unavailable("the lock does not say what it was compiled from")
    found, missing = [], []
    for name in names:
        path = files.below(os.path.realpath(folder), os.path.join(folder, name))
        if path is not None and os.path.isfile(path):
            found.append(_read(path))
        else:
            missing.append(name)
    if not found:
        return Unavailable(f"{', '.join(missing)}: not there, so nothing says what the lock was compiled from")
    return LockSource(tuple(found), tuple(missing))


def named_inputs(lock: Lock) -> Iterator[str]:
    """Yield the inputs that a requirements lock names: in its command, else as who asks for its packages."""
    try:
        words = shlex.split(lock.header.command)
    except ValueError:
        words = []
    inputs = [word for word in words[1:] if not word.startswith("-") and word.endswith(_INPUTS)]
    inputs = [word for word in inputs if os.path.basename(word) != os.path.basename(lock.path)]
    said = (asker[3:].strip() for package in lock.packages for asker in package.via if asker.startswith("-r "))
    yield from dict.fromkeys(inputs or said)


def _read(path: str) -> Input:
    data = files.read_bytes(path)
    try:
        wanted = tuple(_of_project(path, data) if path.endswith(".toml") else _of_requirements(data, path))
    except LockError:
        wanted = ()
    return Input(path, hashlib.sha256(data).hexdigest(), wanted)


def _of_requirements(data: bytes, path: str) -> Iterator[Wanted]:
    text, _ = lines.decode(data, path)
    for number, line in lines.logical_lines(text):
        body, _ = options.split(line)
        if match := _NAME.match(body):
            yield Wanted(normalised(match[0]), body, number)


def _of_project(path: str, data: bytes) -> Iterator[Wanted]:
    """Read `[project]` (PEP 621) and `[dependency-groups]` (PEP 735; what a group includes is read where it stands)."""
    top = Document.parse(path, data).top
    project = table_of(top, "project")
    yield from _all(texts_of(project, "dependencies"), "")
    for extra in table_of(project, "optional-dependencies"):
        yield from _all(texts_of(table_of(project, "optional-dependencies"), extra), f"extra:{normalised(extra)}")
    for group in table_of(top, "dependency-groups"):
        yield from _all(texts_of(table_of(top, "dependency-groups"), group), f"group:{normalised(group)}")
    if name := text_of(project, "name"):
        yield Wanted(normalised(name), name)


def _all(texts: Iterable[str], group: str) -> Iterator[Wanted]:
    for text in texts:
        if match := _NAME.match(text):
            yield Wanted(normalised(match[0]), text, group=group)
