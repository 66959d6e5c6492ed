"""For whom archives are chosen: a Python's own word, and what the caller says of directories."""

from __future__ import annotations

import os
from collections.abc import Sequence

from envdoctor.errors import UsageError
from envdoctor.facts import interpreter
from envdoctor.locks.environments import LockEnvironment, of_target
from envdoctor.system.host import Host


def environment_of(python: str, host: Host, *, otherwise: str) -> LockEnvironment:
    """Ask an interpreter what it is, with nothing of its start-up code running.

    Raises UsageError, ending in what to say `otherwise`, if it does not answer or no manylinux wheel can fit it.
    """
    argv = [python, "-I", "-S", "-B", interpreter.PAYLOAD]
    done = host.run(argv, timeout=interpreter.ANSWER_WITHIN, env=host.env)
    answer, problem = interpreter.parse_answer(done)
    if answer is None:
        raise UsageError(f"{python}: does not answer ({problem}); {otherwise}")
    if not answer["libc"].startswith("glibc "):
        raise UsageError(f"{python}: is no Python on a Linux with glibc; {otherwise}")
    free = "t" in answer["abiflags"]
    return of_target(answer["markers"], answer["libc"], free_threaded=free, name=f"Python {answer['version']}")


def directories(named: Sequence[str], host: Host) -> tuple[str, ...]:
    """Return what --find-links names, absolute. Raises UsageError for what is no directory."""
    found = tuple(os.path.abspath(os.path.join(host.cwd, os.path.expanduser(folder))) for folder in named)
    for folder, said in zip(found, named, strict=True):
        if not os.path.isdir(folder):
            raise UsageError(f"--find-links: {said}: is no directory")
    return found
