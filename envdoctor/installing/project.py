"""The user's own project, installed editable and last, with what the lock brought as its only build requirements."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping

from envdoctor.installing import calling
from envdoctor.installing.installers import Installer
from envdoctor.progress import Progress, Work

WITHIN = 3600.0
"""Seconds; a project may build extensions."""


def reinstall(installer: Installer, python: str, folder: str, work: Work) -> None:
    """Install the project in `folder` editable, without its dependencies and without an index. Raises StepError."""
    work.tell(Progress("project", folder))
    argv = [*installer.command(python), "--no-deps", "--no-build-isolation", "-e", folder]
    done = calling.run(argv, work, env=calling.for_build(work.host.env), cwd=folder, within=WITHIN)
    if done.fault:
        said = done.stdout.decode(errors="replace")
        raise calling.failure("project", f"{folder}: {installer}", done, _advice(folder, said))


def _advice(folder: str, said: str) -> str:
    """Say what the build needs of the lock."""
    missing = re.search(r"No module named '([\w]+)'", said)
    imported = f"the build imports {missing[1]}, which is not there; " if missing else ""
    wanted = ", ".join(build_requirements(folder))
    return f"{imported}the lock must have what the project is built with ({wanted}); --no-project leaves it out"


def build_names(folder: str) -> list[str]:
    """Return the normalised names of what a project is built with, as far as they can be read (PEP 508)."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    found = []
    for text in _build_system(folder).get("requires", ["setuptools"]):
        try:
            wanted = Requirement(str(text))
        except InvalidRequirement:
            continue
        if wanted.marker is None or wanted.marker.evaluate():
            found.append(str(canonicalize_name(wanted.name)))
    return found


def build_requirements(folder: str) -> list[str]:
    """Return `[build-system] requires` of a project; setuptools where it says nothing (PEP 518)."""
    wanted = _build_system(folder).get("requires", ["setuptools"])
    return [str(item) for item in wanted] or ["nothing but its own backend"]


def _build_system(folder: str) -> Mapping[str, list[object]]:
    """Return the table `[build-system]`; empty where none can be read, so that setuptools builds (PEP 518)."""
    try:
        with open(os.path.join(folder, "pyproject.toml"), "rb") as stream:
            table = tomllib.load(stream)["build-system"]
            return {"requires": list(table["requires"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
