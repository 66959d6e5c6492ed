"""`envdoctor lock compile`: from what is asked for to a lock that says what it was made of."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from envdoctor.errors import ResolverError, UsageError
from envdoctor.locking import interpreters, outfile, platforms, sources, tidying
from envdoctor.locking.choosing import Goal, Name, choose
from envdoctor.locking.resolvers import Format, Resolver, Work, resolve
from envdoctor.locking.sources import Sources
from envdoctor.locks import header
from envdoctor.locks.header import Header, Source
from envdoctor.locks.text import normalised
from envdoctor.system.host import Host


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says; None for what it leaves open."""

    source: str
    output: str | None = None
    python: str | None = None
    platform: str | None = None
    resolver: Name | None = None
    form: Format | None = None
    upgrade: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Locked:
    """A lock that is in place."""

    path: str
    """As the caller named it."""
    header: Header
    count: int
    """Pins."""
    moved: tuple[str, ...] = ()
    """Pins of the old lock that another version has now: `numpy 2.2.6 -> 2.2.5`."""


def compile_lock(asked: Asked, host: Host, tell: Callable[[str], None]) -> Locked:
    """Compile a lock and put it in place. `tell` is given a line of progress.

    What is not said is as in the lock that stands there, else as here.
    Raises UsageError, RefusedLockError (no solution, or a faulty lock) and ResolverError.
    """
    source = os.path.realpath(os.path.join(host.cwd, os.path.expanduser(asked.source)))
    inputs = sources.read(source, asked.source)
    said = asked.output or _beside(asked.source, asked.form)
    output = os.path.realpath(os.path.join(host.cwd, os.path.expanduser(said)))
    old = _old(output, said, inputs)
    goal = _goal(asked, old.header, outfile.format_of(output, asked.form), host)
    named = asked.resolver or ("uv" if old.header and old.header.resolver.startswith("uv ") else None)
    upgrade = tuple(_upgrade(name, old) for name in asked.upgrade)
    with tempfile.TemporaryDirectory(prefix="envdoctor-lock-") as scratch:
        resolver = choose(named, goal, os.path.dirname(source), scratch, host)
        tell(f"{resolver} locks {asked.source} for Python {goal.version} on {goal.platform}")
        made = os.path.join(scratch, os.path.basename(output))
        if old.pins:
            _write(made, outfile.seed(old, goal.form))
        resolve(resolver, Work(os.path.dirname(source), (os.path.basename(source),), made, upgrade))
        text = _read(made)
    shown = partial(_shown, source, output)
    about = Header(
        command=_command(shown(source) or os.path.basename(source), os.path.basename(output), goal, resolver, asked),
        resolver=str(resolver),
        python=goal.version,
        platform=str(goal.platform),
        sources=tuple(Source(shown(file.path), file.sha256) for file in inputs.files),
    )
    text = whole(text, about, goal.form, shown, inputs.options)
    outfile.put(output, text, goal.form, said)
    return Locked(said, about, count(text, goal.form), outfile.moved(old, output))


def _beside(source: str, form: Format | None) -> str:
    """Return the lock's name where none is given: train.in -> train.txt, or pylock.train.toml."""
    folder, name = os.path.split(source)
    stem = name.removesuffix(".in").removesuffix(".txt")
    pylock = f"pylock.{stem.replace('.', '-')}.toml"
    return os.path.join(folder, pylock if form == "pylock" else f"{stem}.txt")


def _old(output: str, said: str, inputs: Sources) -> outfile.Old:
    if output in {file.path for file in inputs.files}:
        raise UsageError(f"-o: {said}: is what the lock is compiled from; name another file, or call the input NAME.in")
    return outfile.old_lock(output, said)


def _goal(asked: Asked, before: Header | None, form: Format, host: Host) -> Goal:
    here = interpreters.own(host)
    version, python = interpreters.wanted(
        asked.python or (before.python if before else interpreters.minor(here.version)), host
    )
    named = asked.platform or (before.platform if before else None)
    platform = platforms.parse(named) if named else here.platform
    if platform is None:
        raise UsageError("--platform: this machine is no Linux with glibc; say for which one the lock is to be")
    return Goal(version, python, platform, form)


def _upgrade(said: str, old: outfile.Old) -> str:
    """Return a package to be upgraded. Raises UsageError if it is none of the lock's."""
    match = re.fullmatch(r"([A-Za-z0-9][\w.-]*)(==\S+)?", said)
    if match is None:
        raise UsageError(f"--upgrade-package: {said!r} is no package's name")
    if old.pins and normalised(match[1]) not in dict(old.pins):
        raise UsageError(f"--upgrade-package: {match[1]} is not in the lock")
    return said


def _shown(source: str, output: str, path: str) -> str:
    """Return a path as it may stand in the lock: from the lock's directory, "" if it lies outside the project.

    `path` is absolute, or relative to the directory of `source`.
    """
    real = os.path.realpath(os.path.join(os.path.dirname(source), path))
    root = sources.project(source)
    if os.path.commonpath([root, real]) != root:
        return ""
    inside = os.path.commonpath([root, output]) == root
    return os.path.relpath(real, os.path.dirname(output)) if inside else os.path.basename(real)


def _command(source: str, output: str, goal: Goal, resolver: Resolver, asked: Asked) -> str:
    name = str(resolver).partition(" ")[0]
    options = ["--python", goal.version, "--platform", str(goal.platform), "--resolver", name]
    words = ["envdoctor", "lock", "compile", source, "-o", output, *options]
    return shlex.join([*words, *(["--format", asked.form] if asked.form == "pylock" else [])])


def whole(
    text: str, about: Header, form: Format, shown: tidying.Shown, options: tuple[tuple[str, str], ...] = ()
) -> str:
    """Return the lock: a resolver's output without what is of this machine, with its header and the input's options."""
    if form == "pylock":
        return f"{text.rstrip()}\n\n{header.table(about)}"
    stated = ((name, shown(value) if os.path.isabs(value) else value, value) for name, value in options)
    lines = [f"{name} {value}".rstrip() for name, value, before in stated if value or not before]
    return header.comments(about) + "".join(f"{line}\n" for line in lines) + tidying.tidy(text, shown)


def count(text: str, form: Format) -> int:
    """Count the pins of a lock."""
    pattern = r"(?m)^\[\[packages\]\]" if form == "pylock" else r"(?m)^[A-Za-z0-9]"
    return len(re.findall(pattern, text))


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


def _read(path: str) -> str:
    """Read what the resolver wrote; nothing, if nothing was to be locked."""
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ResolverError(f"the resolver ended well and left no lock: {error}") from error
