"""Run an installer's or resolver's command line and keep what it said last."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess  # noqa: TID251 - this is a module that may
import time
from collections.abc import Callable, Mapping, Sequence

from envdoctor.system.descendants import ENDING, uninterrupted
from envdoctor.system.host import Completed, write_all
from envdoctor.system.prctl import die_with_parent

TAIL = 64 << 10
"""Bytes kept of what it printed last."""


def perform(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str,
    timeout: float,
    held: Sequence[int] = (),
    heard: Callable[[bytes], None] | None = None,
    given: bytes = b"",
) -> Completed:
    """Run it to its end or for `timeout` seconds, with `given` as its input; `stdout` is the end of both its streams.

    It has a process group of its own, which is killed as a whole if this process is interrupted, or gives up. It
    inherits the descriptors `held`; `heard` is given what it prints, block by block, as it comes.
    """
    end = time.monotonic() + timeout
    process = None
    source = _filled(given) if given else subprocess.DEVNULL
    try:
        with (
            uninterrupted()
        ):  # what a signal raises in a hook of fork(2)'s, as logging has one, is passed over: it waits
            process = subprocess.Popen(
                argv,
                env=dict(env),
                cwd=cwd,
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                process_group=0,
                preexec_fn=_begin,
                pass_fds=held,
            )
        printed = _tail(process, end, heard)
        left = max(0.0, end - time.monotonic())
        return Completed(process.wait(timeout=left), printed)
    except subprocess.TimeoutExpired as late:
        return Completed(None, late.output or b"", f"no end within {timeout:g} s")
    except (OSError, ValueError) as error:
        if process is not None:
            raise
        return Completed(None, b"", f"did not start: {getattr(error, 'strerror', None) or error}")
    finally:
        if process is not None:
            _end(process)
        if given:
            os.close(source)


def _filled(data: bytes) -> int:
    """Return a descriptor from which this can be read: a file in memory, which nobody has to feed meanwhile."""
    descriptor = os.memfd_create("input")
    write_all(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _begin() -> None:
    """Be ended with the doctor, and by the signals that it holds back just now."""
    die_with_parent()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of it and of its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=0.5)


def _tail(process: subprocess.Popen[bytes], end: float, heard: Callable[[bytes], None] | None) -> bytes:
    """Read to the end of its output. Raises TimeoutExpired, with what came, if that is not reached in time."""
    printed = bytearray()
    if process.stdout is None:
        return b""
    with process.stdout as stream, selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            left = end - time.monotonic()
            if left <= 0 or not selector.select(left):
                raise subprocess.TimeoutExpired(process.args, 0, bytes(printed))
            block = os.read(stream.fileno(), 65536)
            if not block:
                return bytes(printed)
            if heard is not None:
                heard(block)
            printed += block
            del printed[:-TAIL]
