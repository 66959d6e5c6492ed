"""The driver's libraries and its kernel module are of different versions.

Why it matters: they must be one release. After an upgrade without a reboot the old module is still loaded, and a driver
library baked into a container image does not fit the host's: NVML says `Driver/library version mismatch`, CUDA finds no
device.

What to do: restart the machine, or unload and load the module with no process on the GPUs; in an image, remove the
driver packages and let the container runtime bring the host's. A forward-compatibility libcuda is meant to be newer
and does not count.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.driver import Driver, Library
from envdoctor.model import Finding, Severity


def check(driver: Driver) -> Iterable[Finding]:
    """Compare the module with the first copy of each library that belongs to a driver."""
    parts = {
        "kernel module": driver.kernel_module.version if driver.kernel_module else None,
        "libcuda": _version(driver.libcuda),
        "libnvidia-ml": _version(driver.libnvidia_ml),
    }
    known = {name: version for name, version in parts.items() if version}
    if len(set(known.values())) < 2 and not driver.refused_by_mismatch:
        return
    listed = ", ".join(f"{name} {version}" for name, version in known.items())
    yield Finding(
        Severity.ERROR,
        "nvidia-driver",
        f"the driver is of several versions: {listed}" if len(set(known.values())) > 1 else f"NVML refuses: {listed}",
        {
            "versions": known,
            "libcuda": [copy.path for copy in driver.libcuda],
            "libnvidia_ml": [copy.path for copy in driver.libnvidia_ml],
            "nvml": driver.problem.reason if driver.problem else None,
        },
        (
            "restart the machine, so that the installed module is loaded",
            "in a container: remove the driver packages from the image, the runtime mounts the host's",
        ),
    )


def _version(copies: Iterable[Library]) -> str | None:
    return next((copy.version for copy in copies if copy.kind == "native"), None)
