"""The Python that a lock is for: the one that runs envdoctor, another one on PATH, or one that is not here."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass

from envdoctor.errors import UsageError
from envdoctor.facts.interpreter import PAYLOAD, parse_answer
from envdoctor.locking import platforms
from envdoctor.locking.platforms import Platform
from envdoctor.system.host import Host

ANSWER_WITHIN = 10.0
"""Seconds; it takes 0.02."""


@dataclass(frozen=True, slots=True)
class Python:
    """An interpreter that was asked."""

    path: str
    version: str
    """`3.12.3`."""
    platform: Platform | None
    """What it runs on; None if that is no Linux with glibc."""

    @property
    def own(self) -> bool:
        """True for the one that runs envdoctor."""
        return self.path == sys.executable

    def is_version(self, version: str) -> bool:
        """Tell whether it is a `3.12`, or the very `3.12.3`."""
        return f"{self.version}.".startswith(f"{version}.")


def own(host: Host) -> Python:
    """Return the interpreter that runs envdoctor."""
    found = ask(sys.executable, host)
    if found is None:
        raise UsageError(f"{sys.executable}: does not say what it is; name a --python and a --platform")
    return found


def wanted(said: str, host: Host) -> tuple[str, Python | None]:
    """Return the version of `--python` (a version or a path) and that interpreter, None if it is not here.

    Raises UsageError if it is neither.
    """
    if os.sep in said:
        found = ask(os.path.join(host.cwd, os.path.expanduser(said)), host)
        if found is None:
            raise UsageError(f"--python: {said} is no Python that answers")
        return minor(found.version), found
    if not re.fullmatch(r"3\.\d{1,2}(\.\d{1,2})?", said):
        raise UsageError(f"--python: {said!r} is neither a version, such as 3.12, nor the path of a Python")
    names = (f"python{minor(said)}", "python3", "python")
    paths = (sys.executable, *(shutil.which(name, path=host.env.get("PATH")) for name in names))
    candidates = (ask(path, host) for path in dict.fromkeys(paths) if path)
    return said, next((found for found in candidates if found and found.is_version(said)), None)


def minor(version: str) -> str:
    """Return `3.12` of `3.12.3`."""
    return ".".join(version.split(".")[:2])


def ask(path: str, host: Host) -> Python | None:
    """Ask an interpreter what it is, with nothing of its own start-up code running; None if it does not answer."""
    answer, _ = parse_answer(host.run([path, "-I", "-S", "-B", PAYLOAD], timeout=ANSWER_WITHIN, env=host.env))
    if answer is None:
        return None
    machine = answer["markers"].get("platform_machine", "")
    return Python(path, answer["version"], platforms.of_machine(answer["libc"], machine))
