"""What a lock was compiled from: the files beside it that ask for packages, as far as the lock or custom names them.

Looked at are files below the lock's own directory, and the pyproject.toml or Pipfile beside a lock of a project.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from envdoctor.errors import LockError
from envdoctor.locks import files, lines, options
from envdoctor.locks.project import of_poetry, of_table
from envdoctor.locks.text import normalised
from envdoctor.locks.toml import Document, Table, table_of, text_of, texts_of
from envdoctor.model import Lock, Target, Unavailable
from envdoctor.system.host import Host

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_INPUTS = (".in", ".txt", "pyproject.toml", "setup.py", "setup.cfg")
_CODE = ("setup.py", "setup.cfg")
"""Inputs that only a build says the requirements of: their digest alone is known."""
_BESIDE_LOCK = {
    **dict.fromkeys(("uv", "poetry", "pdm"), ("pyproject.toml",)),
    "pipfile": ("Pipfile",),
}
"""Formats whose locks have one input, which lies beside them."""
_BESIDE = re.compile(r"-[boc]|--(output-file|(build-)?constraints?|overrides?|excludes?|config-file|config)")
"""Options of pip-compile and uv whose value is a file and no input."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One requirement of an input."""

    name: str
    """Normalised."""
    text: str
    """As written: `torch>=2.9 ; sys_platform == 'linux'`."""
    line: int = 0
    group: str = ""
    """`group:dev` or `extra:gpu` where only that asks for it; `project` for the project itself."""


@dataclass(frozen=True, slots=True)
class Input:
    """One file that a lock was compiled from."""

    path: str
    digest: str
    """sha256 of its bytes, hex."""
    wanted: tuple[Wanted, ...] = ()
    name: str = ""
    """As the lock calls it."""


@dataclass(frozen=True, slots=True)
class LockSource:
    """All inputs that are there."""

    inputs: tuple[Input, ...]
    missing: tuple[str, ...] = ()
    """Inputs that the lock names and that are not there."""


def collect(target: Target, host: Host, lock: Lock) -> LockSource | Unavailable:  # noqa: ARG001 - every collector's shape
    """Find and read them."""
    folder = os.path.dirname(os.path.abspath(lock.path))
    names = _BESIDE_LOCK.get(lock.format) or tuple(named_inputs(lock))
    if not names:
        return Unavailable("the lock does not say what it was compiled from")
    found, missing = [], []
    for name in names:
        path = files.below(os.path.realpath(folder), os.path.join(folder, name))
        if path is not None and os.path.isfile(path):
            found.append(replace(_read(path), name=name))
        else:
            missing.append(name)
    if not found:
        return Unavailable(f"{', '.join(missing)}: not there, so nothing says what the lock was compiled from")
    return LockSource(tuple(found), tuple(missing))


def named_inputs(lock: Lock) -> Iterator[str]:
    """Yield the inputs that a requirements lock names: with their digests, in its command, or as who asks for pins."""
    try:
        words = shlex.split(lock.header.command)
    except ValueError:
        words = []
    pairs = pairwise(words)
    free = [word for before, word in pairs if not word.startswith("-") and not _BESIDE.fullmatch(before)]
    inputs = [word for word in free if word.endswith(_INPUTS)]
    inputs = [word for word in inputs if os.path.basename(word) != os.path.basename(lock.path)]
    said = (asker[3:].strip() for package in lock.packages for asker in package.via if asker.startswith("-r "))
    yield from dict.fromkeys([item.name for item in lock.header.inputs] or inputs or said)


def _read(path: str) -> Input:
    data = files.read_bytes(path)
    reader = _of_project if path.endswith(".toml") else _of_requirements
    reader = _of_pipfile if os.path.basename(path) == "Pipfile" else reader
    try:
        wanted = () if path.endswith(_CODE) else tuple(reader(path, data))
    except LockError:
        wanted = ()
    return Input(path, hashlib.sha256(data).hexdigest(), wanted)


def _of_requirements(path: str, data: bytes) -> Iterator[Wanted]:
    text, _ = lines.decode(data, path)
    for number, line in lines.logical_lines(text):
        body, _ = options.split(line)
        if match := _NAME.match(body):
            yield Wanted(normalised(match[0]), body, number)


def _of_pipfile(path: str, data: bytes) -> Iterator[Wanted]:
    """Read the categories of a Pipfile; what is no package there has no say in which are."""
    top = Document.parse(path, data).top
    for category in top:
        if category not in ("source", "requires", "scripts", "pipenv"):
            group = "" if category == "packages" else f"group:{normalised(category)}"
            yield from (Wanted(wish.name, wish.text, group=group) for wish in of_table(table_of(top, category)))


def _of_project(path: str, data: bytes) -> Iterator[Wanted]:
    """Read `[project]` (PEP 621), `[dependency-groups]` (PEP 735) and Poetry's own; an included group is read in place.

    What uv is told to override or leave out is not wanted as it stands there.
    """
    top = Document.parse(path, data).top
    project = table_of(top, "project")
    uv = table_of(table_of(top, "tool"), "uv")
    changed = (*texts_of(uv, "override-dependencies"), *texts_of(uv, "exclude-dependencies"))
    lifted = {wanted.name for wanted in _all(changed, "")}
    yield from (wanted for wanted in _declared(top, project) if wanted.name not in lifted)


def _declared(top: Table, project: Table) -> Iterator[Wanted]:
    yield from _all(texts_of(project, "dependencies"), "")
    for extra in table_of(project, "optional-dependencies"):
        yield from _all(texts_of(table_of(project, "optional-dependencies"), extra), f"extra:{normalised(extra)}")
    for group in table_of(top, "dependency-groups"):
        yield from _all(texts_of(table_of(top, "dependency-groups"), group), f"group:{normalised(group)}")
    for wish in of_poetry(top):
        yield from (Wanted(wish.name, wish.text, group=group) for group in wish.when or ("",))
    if name := text_of(project, "name") or text_of(table_of(table_of(top, "tool"), "poetry"), "name"):
        yield Wanted(normalised(name), name, group="project")


def _all(texts: Iterable[str], group: str) -> Iterator[Wanted]:
    for text in texts:
        if match := _NAME.match(text):
            yield Wanted(normalised(match[0]), text, group=group)
