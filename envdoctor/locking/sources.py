"""The requirements file to be locked, with what it includes: read once, and known by its bytes.

Lines are read as pip reads them (`locks.lines`). What no resolver can hash is refused here, with its line.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from envdoctor.errors import LockError, UsageError
from envdoctor.locks import files, lines
from envdoctor.locks.text import shown
from envdoctor.printable import printable

DEPTH = 8
"""Levels of includes that are followed."""
_VALUED = re.compile(r"(--?[\w-]+)(?:[ =]\s*|(?<=^-[ricfe]))(.*)")
_INCLUDES = {"-r": "-r", "--requirement": "-r", "-c": "-c", "--constraint": "-c"}
_KEPT = {"-i": "--index-url", "-f": "--find-links"}
_CARRIED = (
    *("--index-url", "--extra-index-url", "--no-index", "--find-links"),
    *("--pre", "--prefer-binary", "--no-binary", "--only-binary", "--trusted-host"),
)
"""Options that the lock states because the file that it was compiled from does."""
_LITERAL = re.compile(r"(?<=://)(?!(?:\$\{\w+\}:?)+@)[^/\s@]*@")
"""A password in an address, unless it is that of a variable (`${TOKEN}@`), which pip and uv expand."""
_SCHEMELESS = re.compile(r"^[^\s/@$]+@(?=[\w.-]+(?:[:/]|$))")
"""The same where somebody forgot the scheme."""
_LOCAL = re.compile(r"(?:[\w.\[\],-]+\s*@\s*)?(?:file:|\.{0,2}/|[\w./-]+/|\.{1,2}$)(?!/)", re.ASCII)
_VCS = re.compile(r"(?:[\w.\[\],-]+\s*@\s*)?(?:git|hg|svn|bzr)\+")
_WORDS = re.compile(r"[A-Za-z0-9]\S*(?:\s*(?:[<>=!~;@,\[(]|$))")


@dataclass(frozen=True, slots=True)
class Read:
    """One file that takes part."""

    path: str
    """Real path."""
    sha256: str
    """Of its bytes, hex."""


@dataclass(frozen=True, slots=True)
class Sources:
    """A requirements file and everything below it."""

    files: tuple[Read, ...]
    """The file itself first, each once."""
    options: tuple[tuple[str, str], ...]
    """Name and value of those that the lock has to repeat, without literal passwords; local paths are absolute."""


def read(path: str, said: str) -> Sources:
    """Read a requirements file that the caller calls `said`.

    Raises UsageError, with file and line, if no lock can be compiled from it.
    """
    found: dict[str, Read] = {}
    options: dict[tuple[str, str], None] = {}
    _read(path, said, (), found, options)
    return Sources(tuple(found.values()), tuple(options))


def _read(
    path: str, said: str, chain: tuple[str, ...], found: dict[str, Read], options: dict[tuple[str, str], None]
) -> None:
    real = os.path.realpath(path)
    if real in chain:
        raise UsageError(f"{printable(said)}: includes itself")
    if len(chain) > DEPTH:
        raise UsageError(f"{printable(said)}: is included more than {DEPTH} levels deep")
    if real in found:
        return
    data = _bytes(path, said)
    found[real] = Read(real, hashlib.sha256(data).hexdigest())
    text, problems = lines.decode(data, said)
    if problems:
        raise UsageError(f"{printable(said)}:{problems[0].line}: {problems[0].message}")
    for number, line in lines.logical_lines(text):
        kind, value = _judged(line, f"{printable(said)}:{number}")
        if kind in ("-r", "-c"):
            inner = os.path.join(os.path.dirname(said), value)
            _read(os.path.join(os.path.dirname(path), value), inner, (*chain, real), found, options)
        elif kind:
            local = kind == "--find-links" and "://" not in value and not _SCHEMELESS.match(value)
            public = _SCHEMELESS.sub("", _LITERAL.sub("", value))
            value = os.path.join(os.path.dirname(real), value) if local else public
            options[kind, value] = None


def _bytes(path: str, said: str) -> bytes:
    try:
        data = files.read_bytes(path)
    except LockError as error:
        reason = "no such file" if not os.path.lexists(path) else error.problem.replace("not a lock file", "no file")
        raise UsageError(f"{printable(said)}: {reason}; name a requirements file such as train.in") from error
    problem = _foreign(os.path.basename(path), data)
    if problem:
        raise UsageError(f"{printable(said)}: {problem}, not a requirements file (one NAME, or NAME>=VERSION, a line)")
    return data


def _foreign(name: str, data: bytes) -> str | None:
    """Say what a file is that is no requirements file."""
    if b"\0" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "is a binary file"
    if name.endswith(".toml") or re.search(rb"^\[[\w.\"-]+\]\s*$", data, re.MULTILINE):
        return "is TOML or INI"
    return "is JSON or markup" if re.match(rb"\s*[{<]", data) else None


def _judged(line: str, place: str) -> tuple[str, str]:
    """Return (option, value) of a line that is an option, ("", "") of a requirement.

    Raises UsageError for what cannot be locked.
    """
    if line.startswith("-"):
        return _option(line, place)
    if _VCS.match(line):
        raise UsageError(f"{place}: {shown(line, 80)}: a repository has no hash; name a release, or a wheel's address")
    if ("://" not in line and _LOCAL.match(line)) or re.match(r"(\S+\s*@\s*)?file:", line):
        raise UsageError(f"{place}: {shown(line, 80)}: is of this machine; install it after the lock, with --no-deps")
    if "://" not in line:
        _requirement(line, place)
    return "", ""


def _requirement(line: str, place: str) -> None:
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        Requirement(line.partition(" --")[0])
    except (InvalidRequirement, RecursionError) as error:
        raise UsageError(f"{place}: {shown(line, 80)}: is no requirement: {shown(str(error), 80)}") from error


def _option(line: str, place: str) -> tuple[str, str]:
    match = _VALUED.fullmatch(line)
    name, value = (match[1], match[2].strip().strip("'\"")) if match else (line, "")
    if name in ("-e", "--editable"):
        raise UsageError(f"{place}: an editable project has no hash; install it after the lock, with --no-deps")
    if name in _INCLUDES:
        if not value or "://" in value or "${" in value:
            raise UsageError(f"{place}: {shown(line, 80)}: only files are included")
        return _INCLUDES[name], value
    name = _KEPT.get(name, name)
    return (name, value) if name in _CARRIED else ("", "")


def project(path: str) -> str:
    """Return the directory that a file's project begins at: the nearest with pyproject.toml or .git, else its own."""
    folder = os.path.dirname(os.path.realpath(path))
    for above in upwards(folder):
        if any(os.path.exists(os.path.join(above, mark)) for mark in ("pyproject.toml", ".git")):
            return above
    return folder


def upwards(folder: str) -> Iterator[str]:
    """Yield an absolute directory and all above it."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent
