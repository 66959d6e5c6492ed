"""What holds for all tests: hypothesis is quiet and repeatable, tests of pure code cannot reach the machine."""

import builtins
import contextlib
import io
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

import envdoctor
from envdoctor import knowledge
from envdoctor.state import place

settings.register_profile(
    "quick", deadline=None, database=None, derandomize=bool(os.environ.get("CI")), max_examples=40
)
settings.register_profile("thorough", deadline=None, database=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

STATE = tempfile.TemporaryDirectory(prefix="envdoctor-tests-state-")
os.environ["XDG_STATE_HOME"] = STATE.name  # what a test has remembered is no business of this machine's
place.SYSTEM = os.devnull
"""Tests that root runs keep nothing where services do."""
TESTS = str(Path(__file__).parent)
PURE = tuple(Path(TESTS, name) for name in ("probes", "reports"))
OURS = (os.path.dirname(envdoctor.__file__) + os.sep, TESTS + os.sep)
CALLS = ("access", "fork", "listdir", "lstat", "open", "posix_spawn", "readlink", "scandir", "stat")
FORBIDDEN = (
    (builtins, "open"),
    (io, "open"),
    *((os, name) for name in CALLS),
    (subprocess.Popen, "__init__"),
    (socket.socket, "__init__"),
)


WHOLE = (
    "cache",
    "cli",
    "cases",
    "test_bad_input.py",
    "test_hostile_metadata.py",
    "test_oversized.py",
    "test_sealing.py",
)
"""Where whole checks are run, two dozen forks each."""


def pytest_collection_modifyitems(items):
    """Mark what runs whole checks, hundreds in all: a session of its own has the time."""
    for item in items:
        if item.path.relative_to(TESTS).parts[0] in WHOLE:
            item.add_marker("whole")


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """Guard the body of a pure test alone: fixtures, collection and pytest's own tracebacks read files as ever."""
    pure = any(folder in pyfuncitem.path.parents for folder in PURE)
    with guarded() if pure else contextlib.nullcontext():
        return (yield)


@contextlib.contextmanager
def guarded():
    with pytest.MonkeyPatch.context() as patch:
        for owner, name in FORBIDDEN:
            patch.setattr(owner, name, refusing(owner, name))
        yield


def refusing(owner, name):
    allowed = getattr(owner, name)

    def refuse(*arguments, **options):
        if called_by_us():
            # Not an Exception, so that no `except` between here and the test can swallow it.
            pytest.fail(f"a probe test must not touch the machine: {owner.__name__}.{name}")
        return allowed(*arguments, **options)

    return refuse


def called_by_us():
    """Tell whether our code is the nearest caller outside the standard library; the knowledge tables may be read."""
    frame = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(OURS):
            return file != knowledge.__file__
        if "site-packages" in file or "dist-packages" in file:
            return False
        frame = frame.f_back
    return False
