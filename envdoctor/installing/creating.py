"""Make an empty venv at its final place, by the base interpreter's own venv module."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping

from envdoctor.errors import StepError, UsageError
from envdoctor.facts.interpreter import parse_pyvenv, recorded_version
from envdoctor.installing import calling
from envdoctor.progress import Progress, Work

WITHIN = 300.0
"""Seconds; it takes 0.1, with ensurepip 5, on a slow network disk many times that."""
_DEPTH = 5
"""Venvs made from venvs that are followed."""


def create(place: str, base_python: str, *, pip: bool, prompt: str, work: Work) -> str:
    """Make a venv at `place`, an absolute real path where nothing is yet; return its bin/python.

    Scripts will name this very path, so it cannot be moved. Raises StepError.
    """
    if os.path.lexists(place) or os.path.realpath(place) != place:
        raise StepError("create", f"{place}: must be a real path where nothing is yet")
    work.tell(Progress("create", place))
    options = ["--symlinks", f"--prompt={prompt}", *([] if pip else ["--without-pip"])]
    argv = [base_python, "-I", "-m", "venv", *options, place]
    env, cwd = calling.bare(work.host.env), os.path.dirname(place)
    done = calling.run(argv, work, env=env, cwd=cwd, within=WITHIN)
    python = os.path.join(place, "bin", "python")
    if done.fault:
        raise calling.failure("create", f"{base_python} -m venv", done, _advice(done.stdout.decode(errors="replace")))
    if not os.access(python, os.X_OK):
        raise StepError("create", f"{base_python} -m venv ended well and left no {python}")
    if pip:
        _uncompile(place)
    return python


def _advice(text: str) -> str:
    """Say what is missing where a distribution has split Python up."""
    if named := re.search(r"python3\.\d+-venv", text):
        return f"install the package {named[0]} (apt install {named[0]}), or name another Python with --python"
    if re.search(r"No module named '?(?:venv|ensurepip)|ensurepip is not available", text):
        return "this Python was installed without venv: install its venv package, or name another with --python"
    return ""


def _uncompile(place: str) -> None:
    """Take away the byte code that ensurepip made: it is made again, from proven sources, like all other."""
    for folder, _, names in os.walk(os.path.join(place, "lib")):
        for name in names:
            if name.endswith(".pyc"):
                os.unlink(os.path.join(folder, name))
        if folder.endswith("__pycache__"):
            with contextlib.suppress(OSError):
                os.rmdir(folder)


def base_of(python: str) -> str:
    """Return the base interpreter behind a venv's python; a base interpreter is its own.

    Raises UsageError if it is gone.
    """
    found = os.path.abspath(python)
    for _ in range(_DEPTH):
        pyvenv = _pyvenv(os.path.dirname(os.path.dirname(found)))
        if pyvenv is None:
            break
        candidates = list(_candidates(pyvenv))
        here = next((path for path in candidates if os.access(path, os.X_OK) and os.path.isfile(path)), None)
        if here is None:
            gone = candidates[0] if candidates else "the one it does not name"
            raise UsageError(f"{python}: its base interpreter, {gone}, is gone; name one with --python")
        found = here
    if not (os.path.isfile(found) and os.access(found, os.X_OK)):
        raise UsageError(f"{found}: is no interpreter that can be run; name one with --python")
    return found


def _pyvenv(prefix: str) -> Mapping[str, str] | None:
    try:
        with open(os.path.join(prefix, "pyvenv.cfg"), encoding="utf-8", errors="surrogateescape") as stream:
            return parse_pyvenv(stream.read(1 << 16))
    except (FileNotFoundError, NotADirectoryError):
        return None


def _candidates(pyvenv: Mapping[str, str]) -> Iterator[str]:
    """Yield where it may be: venv (3.11) and virtualenv write the file, uv and older venvs its directory alone."""
    for key in ("executable", "base-executable"):
        if pyvenv.get(key):
            yield pyvenv[key]
    if home := pyvenv.get("home"):
        version = recorded_version(pyvenv)
        names = [f"python{'.'.join(version.split('.')[:2])}"] if version else ["python3", "python"]
        yield from (os.path.join(home, name) for name in names)
