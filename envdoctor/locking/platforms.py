"""Platforms by their wheel tags, as this product names them, and as uv calls them. Values only.

Sources: PEP 425, 600 (manylinux_X_Y_ARCH), 599 and 571 (the older names); uv 0.13.9, `uv pip compile --help`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from envdoctor.errors import UsageError

_LEGACY = {"manylinux2014": (2, 17), "manylinux2010": (2, 12), "manylinux1": (2, 5)}
_ARCHES = ("x86_64", "aarch64")
"""Machines for which uv knows glibc versions."""
_LEVELS = (17, 28, *range(31, 41))
"""glibc 2.N for which uv resolves."""
_TAG = re.compile(r"(?:manylinux_(\d+)_(\d+)|(manylinux2014|manylinux2010|manylinux1))_([a-z0-9_]+)")
_UV = re.compile(r"([a-z0-9_]+)-(manylinux(?:_\d+_\d+|2014))")


@dataclass(frozen=True, slots=True)
class Platform:
    """A Linux with glibc."""

    glibc: tuple[int, int]
    machine: str
    """As `platform.machine()` says: `x86_64`."""

    def __str__(self) -> str:
        """Return the wheel tag (PEP 600)."""
        return f"manylinux_{self.glibc[0]}_{self.glibc[1]}_{self.machine}"


def parse(text: str) -> Platform:
    """Read a wheel tag, or uv's name for one. Raises UsageError for anything else."""
    if swapped := _UV.fullmatch(text):
        text = f"{swapped[2]}_{swapped[1]}"
    match = _TAG.fullmatch(text)
    if match is None:
        raise UsageError(f"--platform: {text!r} is no Linux platform as wheels name it, such as manylinux_2_28_x86_64")
    return Platform(_LEGACY[match[3]] if match[3] else (int(match[1]), int(match[2])), match[4])


def of_machine(libc: str, machine: str) -> Platform | None:
    """Return the platform of an interpreter that says `glibc 2.36` and `x86_64`; None if it is none with glibc."""
    match = re.fullmatch(r"glibc (\d+)\.(\d+).*", libc)
    return Platform((int(match[1]), int(match[2])), machine) if match and machine else None


def for_uv(platform: Platform) -> str:
    """Return uv's name: of the levels that it knows the highest that is not above. Raises UsageError if none is."""
    below = [level for level in _LEVELS if (2, level) <= platform.glibc]
    if platform.machine not in _ARCHES or not below:
        raise UsageError(
            f"--platform: uv cannot resolve for {platform}; it knows glibc 2.17 and newer on x86_64, aarch64"
        )
    return f"{platform.machine}-manylinux_2_{below[-1]}"
