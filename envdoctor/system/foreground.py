"""Run a user's command as if the user had started it, and wait for its end, however long that takes."""

from __future__ import annotations

import contextlib
import os
import subprocess  # noqa: TID251 - this is a module that may
import time
from collections.abc import Mapping, Sequence

from envdoctor.errors import UsageError
from envdoctor.system.descendants import descendants, end_all, uninterrupted
from envdoctor.system.prctl import adopt_orphans, die_with_parent

PATIENCE = 10.0
"""Seconds that an interrupted command has for its own farewells."""
PULSE = 0.5
"""Seconds between two looks at how much of its time is left."""
SUSPENDED = 1.0
"""Seconds of one pulse that count at most: a job that is stopped, and this process with it, loses no time."""


def run(argv: Sequence[str], *, env: Mapping[str, str], cwd: str) -> int:
    """Return its exit status, negative for a signal. What it prints goes to standard error.

    It stays in this process group, so that Ctrl-C reaches it as ever, and dies with this process.
    Raises UsageError if it cannot be started.
    """
    process = _started(argv, env, cwd)
    try:
        return process.wait()
    except BaseException:
        _end(process)
        raise


def run_alone(argv: Sequence[str], *, env: Mapping[str, str], cwd: str, limit: float | None = None) -> int | None:
    """Run it as `run` does, with nothing to read; None if it took longer than `limit` seconds.

    Whatever it leaves behind is ended with it, and so is everything at an interrupt.
    """
    adopt_orphans()
    strangers = descendants({os.getpid()})
    process = _started(argv, env, cwd, stdin=subprocess.DEVNULL)
    try:
        return process.wait() if limit is None else _waited(process, limit)
    finally:
        with uninterrupted():
            end_all(process, lambda: strangers)


def _started(
    argv: Sequence[str], env: Mapping[str, str], cwd: str, stdin: int | None = None
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(argv, env=dict(env), cwd=cwd, stdin=stdin, stdout=2, preexec_fn=die_with_parent)
    except (OSError, ValueError) as error:
        raise UsageError(f"{argv[0]}: did not start: {getattr(error, 'strerror', None) or error}") from error


def _waited(process: subprocess.Popen[bytes], limit: float) -> int | None:
    """Return its exit status, None if there is none within so many seconds."""
    while limit > 0:
        began = time.monotonic()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=min(limit, PULSE))
        limit -= min(time.monotonic() - began, SUSPENDED)
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let it end, ask it to, make it."""
    for act in (process.terminate, process.kill):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=PATIENCE)
            return
        act()
    process.wait()
