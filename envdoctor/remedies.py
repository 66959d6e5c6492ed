"""Commands that findings advise, spelled in one place: for the target's own interpreter, quoted for a shell."""

from __future__ import annotations

import shlex
from collections.abc import Sequence


def _pip(python: str) -> str:
    return f"{shlex.quote(python)} -m pip"


def remove(names: Sequence[str], python: str) -> tuple[str, ...]:
    """Advise to uninstall packages that own nothing of anybody else's."""
    return (f"{_pip(python)} uninstall {' '.join(names)}",) if names else ()


def reinstall(packages: Sequence[tuple[str, str | None]], python: str) -> tuple[str, ...]:
    """Advise to put packages back at a version, whatever is there now; a plain install may find nothing to do."""
    wanted = " ".join(shlex.quote(f"{name}=={version}" if version else name) for name, version in packages)
    return (f"{_pip(python)} install --force-reinstall --no-deps {wanted}",)


def clean_reinstall(name: str, version: str | None, python: str) -> tuple[str, ...]:
    """Advise to remove every trace of a package first."""
    return (f"{_pip(python)} uninstall {name}   # again, until it says that {name} is not installed", *reinstall([(name, version)], python))
