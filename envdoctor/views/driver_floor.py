"""What the torch build asks of the driver, by CUDA's minor-version compatibility."""

from __future__ import annotations

import re
from dataclasses import dataclass

from envdoctor import knowledge
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Unavailable


@dataclass(frozen=True, slots=True)
class DriverFloor:
    """The drivers that matter to this torch."""

    cuda: tuple[int, int]
    """CUDA (major, minor) that torch was built for."""
    minimum: str | None
    """The oldest driver that runs any release of that major; None if no table knows the major."""
    own: str | None
    """The driver that came with that release: from it on, nothing depends on compatibility. None if unknown."""
    source: str = ""


def view(torch_build: TorchBuild) -> DriverFloor | Unavailable:
    """Look the CUDA version of torch up."""
    match = re.fullmatch(r"(\d+)\.(\d+)(?:\.\d+)*", torch_build.cuda or "")
    if match is None:
        return Unavailable("torch is not built for CUDA")
    cuda = int(match[1]), int(match[2])
    floor = next((row for row in knowledge.rows("drivers_major") if row["cuda"] == cuda[0]), None)
    release = f"{cuda[0]}.{cuda[1]}.0"
    own = next((row["toolkit_driver"] for row in knowledge.rows("drivers") if row["cuda"] == release), None)
    return DriverFloor(cuda, floor["minimum_driver"] if floor else None, own, floor["source"] if floor else "")


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a driver version, for comparison: 580 comes before 580.95.05."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def builds_for(release: str, driver: str) -> tuple[str, ...]:
    """Return the CUDA labels that a torch release is known to be built for and that this driver runs, newest first."""
    floors = {row["cuda"]: numbers(row["minimum_driver"]) for row in knowledge.rows("drivers_major")}
    found = set()
    for row in knowledge.rows("torch_arch"):
        series, _, label = row["build"].partition("+")
        major = re.fullmatch(r"cu(\d\d)\d", label)
        if major and f"{release}.".startswith(f"{series}.") and int(major[1]) in floors:
            found |= {label} if floors[int(major[1])] <= numbers(driver) else set()
    return tuple(sorted(found, reverse=True))
