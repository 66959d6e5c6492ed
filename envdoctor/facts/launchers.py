"""What starts the environment's programs: console scripts and their shebangs, activate scripts, and the caller's PATH.

Forms read: a plain `#!` line; the `#!/bin/sh` and `'''exec' PYTHON` pair that pip's distlib writes for long paths and
paths with blanks, and uv for every script of a relocatable venv (uv 0.13.9: `'''exec' "$(dirname ...)"/'python'`);
activate, activate.csh and activate.fish as venv (3.8 to 3.13), virtualenv 21.15 and uv 0.13.9 write them.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Iterable
from dataclasses import dataclass

from envdoctor.facts.interpreter import Interpreter
from envdoctor.model import Target
from envdoctor.system.host import Host

HEAD = 1024
"""Bytes of a script that are read; Linux itself reads 256 of a shebang line (BINPRM_BUF_SIZE)."""
ACTIVATE_LIMIT = 1 << 16
"""Bytes of an activate script that are read."""
TOOLS = ("pip", "pip3", "python")
"""Names looked up on the caller's PATH."""
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*t?\Z")
_EXEC = re.compile(rb"^'''exec' (.+) \"\$0\" \"\$@\"$", re.MULTILINE)
_MADE_AT = re.compile(r" -m (?:venv|virtualenv) .*?(?<=\s)(/.*)\Z")
_ACTIVATE = {
    "activate": re.compile(r"^\s*(?:export )?VIRTUAL_ENV=(.+)$", re.MULTILINE),
    "activate.csh": re.compile(r"^(?:setenv VIRTUAL_ENV |set _virtualenv_dir=)(.+)$", re.MULTILINE),
    "activate.fish": re.compile(r"^set -gx VIRTUAL_ENV (.+)$", re.MULTILINE),
}


@dataclass(frozen=True, slots=True)
class Shebang:
    """The Python that a script names."""

    interpreter: str | None
    """Absolute path; None if it is looked up at run time: on PATH, or beside the script."""
    relocatable: bool = False
    """True if the script looks for the interpreter beside itself."""


@dataclass(frozen=True, slots=True)
class Script:
    """A script in the environment's bin directory that Python runs."""

    path: str
    interpreter: str | None
    exists: bool = True
    """True if that interpreter can be run."""
    own: bool = True
    """True if it is this environment's, or is looked up at run time."""
    environment: str | None = None
    """Prefix of the other venv or conda environment that the interpreter belongs to, if it does."""


@dataclass(frozen=True, slots=True)
class Activation:
    """An activate script and the prefix that it puts on PATH."""

    path: str
    prefix: str
    own: bool
    """True if that prefix is this environment."""
    exists: bool = True
    relocates: bool = False
    """True if it finds its own folder when that prefix is gone (virtualenv's does)."""


@dataclass(frozen=True, slots=True)
class Tool:
    """What a bare command name gives the caller."""

    name: str
    path: str
    interpreter: str | None
    """The Python behind it; None if it is no Python script."""
    own: bool
    """True if that is this environment's."""


@dataclass(frozen=True, slots=True)
class Launchers:
    """All ways to start something in the environment."""

    scripts: tuple[Script, ...] = ()
    activations: tuple[Activation, ...] = ()
    made_at: str | None = None
    """Where `python -m venv` made the environment, from pyvenv.cfg's `command`."""
    tools: tuple[Tool, ...] = ()
    activated: bool = False
    """True if $VIRTUAL_ENV or $CONDA_PREFIX is this environment."""

    def tool(self, name: str) -> Tool | None:
        """Return what the caller's PATH gives for a name, None if nothing."""
        return next((tool for tool in self.tools if tool.name == name), None)


def collect(target: Target, host: Host, interpreter: Interpreter) -> Launchers:
    """Read the heads of all scripts; start none of them.

    Below --root the paths that they name are returned as the caller sees them; which PATH a job has there is not known,
    so there are no tools.
    """
    home = _Home(target.prefix, host)
    named = [host.env[name] for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if host.env.get(name)]
    made = _MADE_AT.search(interpreter.pyvenv.get("command", ""))
    return Launchers(
        scripts=tuple(_scripts(home)),
        activations=tuple(_activations(home)),
        made_at=host.at(made[1]) if made else None,
        tools=() if host.root else tuple(_tools(home, host)),
        activated=any(os.path.realpath(path) == home.real for path in named),
    )


class _Home:
    """The environment, with its links resolved once."""

    def __init__(self, prefix: str, host: Host) -> None:
        self.prefix = prefix
        self.at = host.at
        self.real = os.path.realpath(prefix)
        self.bin = os.path.join(prefix, "bin")
        self.real_bin = os.path.realpath(self.bin)

    def holds(self, program: str) -> bool:
        """Tell whether a program is in this environment's bin; the program itself may be a link to elsewhere."""
        return os.path.realpath(os.path.dirname(program)) == self.real_bin


def _scripts(home: _Home) -> Iterable[Script]:
    try:
        with os.scandir(home.bin) as entries:
            paths = sorted(entry.path for entry in entries)
    except OSError:
        return
    for path in paths:
        shebang = parse_shebang(_head(path))
        if shebang is not None:
            yield _script(path, shebang.interpreter, home)


def _script(path: str, interpreter: str | None, home: _Home) -> Script:
    if interpreter is None:
        return Script(path, None)
    interpreter = home.at(interpreter)
    own = home.holds(interpreter)
    environment = None if own else _environment(interpreter)
    return Script(path, interpreter, os.access(interpreter, os.X_OK), own, environment)


def _environment(interpreter: str) -> str | None:
    prefix = os.path.dirname(os.path.dirname(interpreter))
    marks = ("pyvenv.cfg", "conda-meta")
    return prefix if any(os.path.exists(os.path.join(prefix, mark)) for mark in marks) else None


def _head(path: str, limit: int = HEAD) -> bytes:
    """Read the beginning of a regular file; b"" if it is none."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return b""
        with open(path, "rb") as stream:
            return stream.read(limit)
    except OSError:
        return b""


def parse_shebang(head: bytes) -> Shebang | None:
    """Return the Python that the beginning of a script names; None if it is no Python script."""
    first = head.partition(b"\n")[0].strip()
    if not first.startswith(b"#!"):
        return None
    words = os.fsdecode(first[2:]).split()
    if not words:
        return None
    if os.path.basename(words[0]) == "env":
        return Shebang(None) if any(_PYTHON.match(word) for word in words[1:]) else None
    if os.path.basename(words[0]) == "sh":
        trampoline = _EXEC.search(head)
        return _trampoline(os.fsdecode(trampoline[1])) if trampoline else None
    if not words[0].startswith("/") or not _PYTHON.match(os.path.basename(words[0])):
        return None
    return Shebang(words[0])


def _trampoline(command: str) -> Shebang | None:
    if "$0" in command:
        return Shebang(None, relocatable=True)
    path = _literal(command)
    return Shebang(path) if path and _PYTHON.match(os.path.basename(path)) else None


def _literal(text: str) -> str | None:
    """Return the absolute path that a quoted or bare shell word stands for; None if the shell must work it out."""
    if "$" in text or "`" in text:
        return None
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    return words[0] if len(words) == 1 and words[0].startswith("/") else None


def _activations(home: _Home) -> Iterable[Activation]:
    for name in _ACTIVATE:
        path = os.path.join(home.bin, name)
        text = os.fsdecode(_head(path, ACTIVATE_LIMIT))
        prefix = parse_activate(text, name)
        if prefix is not None:
            prefix = home.at(prefix)
            own = os.path.realpath(prefix) == home.real
            yield Activation(path, prefix, own, os.path.isdir(prefix), "CURRENT_ENV" in text)


def parse_activate(text: str, name: str) -> str | None:
    """Return the prefix that an activate script hard-codes; None if it works it out when it is sourced."""
    literals = (_literal(match[1]) for match in _ACTIVATE[name].finditer(text))
    return next((path for path in literals if path), None)


def _tools(home: _Home, host: Host) -> Iterable[Tool]:
    for name in TOOLS:
        path = which(name, host)
        if path is None:
            continue
        if name == "python":
            yield Tool(name, path, path, home.holds(path))
            continue
        shebang = parse_shebang(_head(path)) or Shebang(None)
        beside = home.holds(path) and (shebang.relocatable or shebang.interpreter is None)
        interpreter = os.path.join(home.bin, "python") if beside else shebang.interpreter
        yield Tool(name, path, interpreter, interpreter is not None and home.holds(interpreter))


def which(name: str, host: Host) -> str | None:
    """Look a command up on the caller's PATH, as execvp does; relative entries start at the caller's folder."""
    for folder in host.env.get("PATH", "").split(os.pathsep):
        path = os.path.join(host.cwd, folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.normpath(path)
    return None
