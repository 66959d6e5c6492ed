"""Run a user's command as if the user had started it, and wait for its end, however long that takes."""

from __future__ import annotations

import contextlib
import subprocess  # noqa: TID251 - this is a module that may
from collections.abc import Mapping, Sequence

from envdoctor.errors import UsageError
from envdoctor.system.prctl import die_with_parent

PATIENCE = 10.0
"""Seconds that an interrupted command has for its own farewells."""


def run(argv: Sequence[str], *, env: Mapping[str, str], cwd: str) -> int:
    """Return its exit status, negative for a signal. What it prints goes to standard error.

    It stays in this process group, so that Ctrl-C reaches it as ever, and dies with this process.
    Raises UsageError if it cannot be started.
    """
    try:
        process = subprocess.Popen(argv, env=dict(env), cwd=cwd, stdout=2, preexec_fn=die_with_parent)
    except (OSError, ValueError) as error:
        raise UsageError(f"{argv[0]}: did not start: {getattr(error, 'strerror', None) or error}") from error
    try:
        return process.wait()
    except BaseException:
        _end(process)
        raise


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let it end, ask it to, make it."""
    for act in (process.terminate, process.kill):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=PATIENCE)
            return
        act()
    process.wait()
