"""Call the command that is told of changes: once a round, with JSON on its input, and a limit of time."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence

from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.printable import last_lines
from envdoctor.system.dropped import identity
from envdoctor.system.tool import perform
from envdoctor.system.trust import strangers

WITHIN = 10.0
"""Seconds that it may take."""


def words(command: str) -> tuple[str, ...]:
    """Split a command line as a shell would, of which there is none. Raises UsageError."""
    try:
        argv = tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError(f"--notify: {command}: {error}") from error
    if not argv:
        raise UsageError("--notify: no command")
    return argv


def missing(argv: Sequence[str]) -> tuple[str, ...]:
    """Say so, before there is anything to tell, if the command could not be told of it."""
    if not argv:
        return ()
    try:
        _trusted(argv[0], identity(os.geteuid()).environment()["PATH"])
    except (EnvDoctorError, OSError) as error:
        return (f"{argv[0]} cannot be told of a change: {error}",)
    return ()


def notify(argv: Sequence[str], document: Mapping[str, object]) -> str | None:
    """Run it as whoever runs this, with a login's variables alone; return what went wrong, None if nothing did."""
    env = {**identity(os.geteuid()).environment(), "LANG": "C.UTF-8"}
    try:
        program = _trusted(argv[0], env["PATH"])
    except (EnvDoctorError, OSError) as error:
        return f"{argv[0]} was not told: {error}"
    text = json.dumps(document).encode() + b"\n"
    done = perform([program, *argv[1:]], env=env, cwd="/", timeout=WITHIN, given=text)
    if not done.fault:
        return None
    said = last_lines(done.stdout.decode(errors="replace"))[-1:]
    return ": ".join((f"{argv[0]} was told and {done.fault}", *said))


def _trusted(name: str, path: str) -> str:
    """Return the program. Raises EnvDoctorError if it is not there, or if root would run what others can change."""
    program = shutil.which(name, path=path) if "/" not in name else name
    if program is None or not os.path.isabs(program):
        raise EnvDoctorError("there is no such program" if program is None else "name it by an absolute path")
    if os.geteuid() == 0 and (others := strangers(program, 0)):
        raise EnvDoctorError(f"not run by root: {others}")
    return program
