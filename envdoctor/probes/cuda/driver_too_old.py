"""The NVIDIA driver is older than the CUDA release that torch was built for.

Why it matters: below the floor of a CUDA major (450.80.02 for 11, 525.60.13 for 12, 580 for 13) torch sees no GPU and
says that the driver is too old, with the driver's own CUDA as a number (12020 is 12.2). An unpinned torch moves to a
newer CUDA major without a word.

What to do: upgrade the driver, or install a torch built for a CUDA major that it runs. A newer minor than the driver's
within one major is a note: it works by minor-version compatibility, only PTX (code for GPUs that the build has no
machine code for) is refused. A forward-compatibility package can lift the floor, on data-centre GPUs alone. The CUDA
number that nvidia-smi shows is the driver's ceiling, no installed toolkit.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.driver import Driver, Library
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Severity
from envdoctor.views.driver_floor import DriverFloor, builds_for, carried, carrier, numbers, too_old, version_of


def check(driver: Driver, torch_build: TorchBuild, driver_floor: DriverFloor) -> Iterable[Finding]:
    """Compare the kernel's driver with the floor of torch's CUDA major, then the two minors."""
    version = version_of(driver)
    if version is None:
        return
    evidence: dict[str, object] = {
        "driver": version,
        "ceiling": _dotted(driver.cuda),
        "torch": torch_build.version,
        "cuda": torch_build.cuda,
        "minimum_driver": driver_floor.minimum,
        "source": driver_floor.source,
    }
    compat = carrier(driver)
    if too_old(driver, driver_floor):
        if compat and carried(driver, driver_floor):
            yield _carried(version, compat, evidence)
        else:
            yield _refused(version, driver, torch_build, driver_floor, evidence)
    elif compat is None and _newer_minor(version, driver, driver_floor):
        yield _compatible(version, torch_build, driver_floor, evidence)


def _dotted(cuda: tuple[int, ...] | None) -> str | None:
    return ".".join(map(str, cuda)) if cuda else None


def _newer_minor(version: str, driver: Driver, floor: DriverFloor) -> bool:
    if driver.cuda is not None:
        return driver.cuda < floor.cuda
    return floor.own is not None and numbers(version) < numbers(floor.own)


def _refused(
    version: str, driver: Driver, torch_build: TorchBuild, floor: DriverFloor, evidence: dict[str, object]
) -> Finding:
    release = (torch_build.version or "").partition("+")[0]
    labels = builds_for(release, version)
    ceiling = f", whose CUDA ends at {_dotted(driver.cuda)}" if driver.cuda else ""
    wanted = f"driver {floor.minimum} or newer" if floor.minimum else "a newer driver"
    other = f"torch {release} as built for {' or '.join(labels)}" if labels else "a torch built for an older CUDA major"
    reported = f" (torch calls it version {driver.cuda[0] * 1000 + driver.cuda[1] * 10})" if driver.cuda else ""
    return Finding(
        Severity.ERROR,
        "torch",
        f"{torch_build.version} is built for CUDA {torch_build.cuda} and needs {wanted}; this node has {version}"
        f"{ceiling}{reported}",
        {**evidence, "other_builds": list(labels)},
        (
            f"upgrade the driver to {floor.minimum} or newer" if floor.minimum else "upgrade the driver",
            f"or install {other}",
        ),
    )


def _carried(version: str, compat: Library, evidence: dict[str, object]) -> Finding:
    return Finding(
        Severity.NOTE,
        "torch",
        f"driver {version} is below the floor of torch's CUDA {evidence['cuda']}; the forward-compatibility libcuda "
        f"{compat.version} carries it, which works on data-centre GPUs alone",
        {**evidence, "libcuda": compat.path},
    )


def _compatible(version: str, torch_build: TorchBuild, floor: DriverFloor, evidence: dict[str, object]) -> Finding:
    newer = f"; from driver {floor.own} on nothing depends on it" if floor.own else ""
    return Finding(
        Severity.NOTE,
        "torch",
        f"built for CUDA {torch_build.cuda}, newer than what driver {version} came with; it runs by minor-version "
        f"compatibility, without PTX{newer}",
        {**evidence, "own_driver": floor.own},
    )
