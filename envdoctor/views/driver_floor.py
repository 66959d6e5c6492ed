"""What the torch build asks of the driver, by CUDA's minor-version compatibility."""

from __future__ import annotations

import re
from dataclasses import dataclass

from envdoctor import knowledge
from envdoctor.facts.driver import Driver, Library
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
    return floor_of(int(match[1]), int(match[2]))


def floor_of(major: int, minor: int) -> DriverFloor:
    """Return what the tables say of a CUDA release."""
    cuda = major, minor
    floor = next((row for row in knowledge.rows("drivers_major") if row["cuda"] == cuda[0]), None)
    release = f"{cuda[0]}.{cuda[1]}.0"
    own = next((row["toolkit_driver"] for row in knowledge.rows("drivers") if row["cuda"] == release), None)
    return DriverFloor(cuda, floor["minimum_driver"] if floor else None, own, floor["source"] if floor else "")


def version_of(driver: Driver) -> str | None:
    """Return the version that counts: the kernel module's; NVML may be of another one."""
    return driver.kernel_module.version if driver.kernel_module else driver.version


def carrier(driver: Driver) -> Library | None:
    """Return the forward-compatibility libcuda that the loader finds first, None if that is the driver's own."""
    return next((copy for copy in driver.libcuda[:1] if copy.kind == "compat"), None)


def too_old(driver: Driver, floor: DriverFloor) -> bool:
    """Tell whether the kernel's driver is below the floor.

    Where no table has the floor of a major, the driver's ceiling decides, unless it is another library's.
    """
    if floor.minimum is not None:
        return numbers(version_of(driver) or "") < numbers(floor.minimum)
    return carrier(driver) is None and driver.cuda is not None and driver.cuda[0] < floor.cuda[0]


def carried(driver: Driver, floor: DriverFloor) -> bool:
    """Tell whether a forward-compatibility libcuda lifts the driver to the floor."""
    compat = carrier(driver)
    version = compat.version if compat else None
    return version is not None and floor.minimum is not None and numbers(version) >= numbers(floor.minimum)


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
