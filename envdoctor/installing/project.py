"""The user's own project, installed editable and last, with what the lock brought as its only build requirements."""

from __future__ import annotations

import os
import tomllib

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
    if calling.failed(done):
        raise calling.failure("project", f"{folder}: {installer}", done, _advice(folder))


def _advice(folder: str) -> str:
    """Say what the build needs of the lock."""
    wanted = ", ".join(build_requirements(folder))
    return f"the lock must have what the project is built with ({wanted}); --no-project leaves the project out"


def build_requirements(folder: str) -> list[str]:
    """Return `[build-system] requires` of a project; setuptools where it says nothing (PEP 518)."""
    try:
        with open(os.path.join(folder, "pyproject.toml"), "rb") as stream:
            wanted = tomllib.load(stream)["build-system"]["requires"]
    except (OSError, ValueError, KeyError, TypeError):
        return ["setuptools"]
    return [str(item) for item in wanted] if isinstance(wanted, list) and wanted else ["nothing but its own backend"]
