"""What the caller means by a path while files are read below --root."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator

from envdoctor.errors import UsageError
from envdoctor.system.host import Host
from envdoctor.system.rooted import is_below

USUAL = (
    *("/venv", "/.venv", "/opt/*", "/opt/*/.venv", "/opt/*/venv", "/opt/*/envs/*", "/app/.venv", "/app/venv"),
    *("/srv/*", "/srv/*/.venv", "/srv/*/venv", "/workspace/.venv", "/workspace/venv", "/root/.venv", "/root/venv"),
    *("/home/*/.venv", "/home/*/venv", "/root/*/envs/*", "/home/*/*/envs/*", "/usr/local", "/usr"),
)
"""Where images and users keep environments; a conda's own folder is an environment as well."""
SHOWN = 20


def is_environment(prefix: str) -> bool:
    """Tell whether a directory looks like a Python prefix: a venv, a conda environment, or lib/pythonX.Y below it."""
    marks = ("pyvenv.cfg", "conda-meta", "lib/python*/site-packages", "lib/python3/dist-packages")
    return any(glob.glob(os.path.join(glob.escape(prefix), mark)) for mark in marks)


def placed(path: str, given: str, said: str, host: Host) -> str:
    """Return the path of a target below --root, spelled as the root is. Raises UsageError for one that lies elsewhere.

    `given` is what was said, `path` the same as seen from the caller's directory.
    """
    path = os.path.abspath(path)
    if is_below(host.root, path):
        return path
    rest = path
    while rest != "/":  # the root under another name: a link to it, or what it is a link to
        if os.path.exists(rest) and os.path.samefile(rest, host.root):
            return f"{host.root}{path[len(rest) :]}"
        rest = os.path.dirname(rest)
    other = meant(path, given, host)
    hint = f"did you mean {other}?" if other else f"name it as it is seen from here, {host.root}/..."
    raise UsageError(f"{said}: {path} is not below --root {host.root}; {hint}")


def meant(path: str, given: str, host: Host) -> str | None:
    """Return what lies below --root under a name that the image has for it; None if nothing does, or without a root."""
    if not host.root:
        return None
    names = dict.fromkeys((os.path.abspath(path), f"/{given.lstrip('/')}"))
    return next(
        (there for there in (host.at(os.path.normpath(name)) for name in names) if os.path.lexists(there)), None
    )


def unnamed(host: Host) -> str:
    """Say that a target must be named, and what there is to name."""
    found = list(dict.fromkeys(_environments(host)))
    listed = "; ".join(f"--target {path}" for path in found[:SHOWN])
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return f"--root {host.root}: say which environment is meant. " + (
        f"There is {listed}{more}" if found else "None lies in the usual places; name one with --target DIR"
    )


def _environments(host: Host) -> Iterator[str]:
    for pattern in USUAL:
        for path in sorted(glob.glob(f"{glob.escape(host.root)}{pattern}")):
            if is_environment(path):
                yield path
