"""Become a user's command: what Python has changed of this process is put back, then execve(2).

Nothing of ours stays: the process keeps its number, and with it its parent, group, session, limits, priority, umask and
the descriptors that were inherited; those that Python opened are closed by the kernel (PEP 446). Python itself sets
SIGPIPE and SIGXFSZ to be ignored (`Py_InitializeFromConfig`, CPython 3.11 to 3.14) and may write LC_CTYPE into the
environment (PEP 538). What the two signals were before is known nowhere: they get their default, as every command has
that Python's own subprocess starts, and so does SIGCHLD (`main` of __main__.py).
"""

from __future__ import annotations

import errno
import os
import re
import signal
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

from envdoctor.errors import NotStartedError
from envdoctor.system.reading import head

COERCED = "LC_CTYPE"
"""What PEP 538 sets where the locale is C."""
SHELL = "/bin/sh"
"""Reads what has no `#!`, as execvp(3) and shells have it."""
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
_HEAD = 256
"""Bytes of a file that tell whether it is a script: more of a first line the kernel does not read (BINPRM_BUF_SIZE)."""
_INTERPRETER = re.compile(rb"#![ \t]*([^\s\0]+)")


def inherited(environment: str = "/proc/self/environ") -> dict[str, str]:
    """Return the variables as the caller gave them: LC_CTYPE as it was, none without a name (execve takes no such)."""
    env = {name: value for name, value in os.environ.items() if name}
    if COERCED in env:
        try:
            with open(environment, "rb") as stream:
                given = dict(item.partition(b"=")[::2] for item in reversed(stream.read().split(b"\0")))
        except OSError:
            return env
        del env[COERCED]
        value = given.get(COERCED.encode())
        env |= {} if value is None else {COERCED: os.fsdecode(value)}
    return env


def found(name: str, env: Mapping[str, str], cwd: str) -> str | None:
    """Return the absolute path of the program that a command's first word names, None if there is none."""
    paths = (os.path.abspath(os.path.join(cwd, path)) for path in _candidates(name, env))
    return next((path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)), None)


def become(argv: Sequence[str], env: Mapping[str, str]) -> NoReturn:
    """Start a command in the place of this process. Raises NotStartedError, status 127 or 126, if that cannot be."""
    _as_it_was()
    refused: NotStartedError | None = None
    for path in _candidates(argv[0], env):
        try:
            _execute(path, argv, env)
        except (FileNotFoundError, NotADirectoryError):
            refused = refused or _without_interpreter(path)
        except (OSError, ValueError) as error:
            if "/" in argv[0] or (os.path.lexists(path) and not os.path.isdir(path)):
                refused = refused or NotStartedError(f"{path}: {getattr(error, 'strerror', None) or error}", 126)
    for number in _IGNORED_BY_PYTHON:
        signal.signal(number, signal.SIG_IGN)
    raise refused or NotStartedError(f"{argv[0]}: {_missing(argv[0])}", 127)


def _candidates(name: str, env: Mapping[str, str]) -> Iterator[str]:
    """Yield where execvp(3) looks."""
    if "/" in name or not name:
        yield name
        return
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        yield os.path.join(folder or os.curdir, name)


def _execute(path: str, argv: Sequence[str], env: Mapping[str, str]) -> None:
    try:
        os.execve(path, list(argv), dict(env))  # noqa: S606 - it is what this is for
    except OSError as error:
        if error.errno != errno.ENOEXEC or b"\0" in head(path, _HEAD):
            raise
    os.execve(SHELL, [SHELL, path, *argv[1:]], dict(env))  # noqa: S606


def _without_interpreter(path: str) -> NotStartedError | None:
    """Say so if a file is there and what its first line names is not: the script of an environment that was moved."""
    match = _INTERPRETER.match(head(path, _HEAD))
    if match is None:
        return None
    return NotStartedError(f"{path}: its interpreter {os.fsdecode(match[1])} is not there", 126)


def _missing(name: str) -> str:
    return "no such file" if "/" in name else "command not found" if name else "a command without a name"


def _as_it_was() -> None:
    """Put signals back: a handler is no handler in another program, and none that comes now may be lost to one."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)) or number in _IGNORED_BY_PYTHON:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
