"""The fabric manager is not of the driver's version.

Why it matters: on machines with NVSwitch it must equal the driver exactly, older or newer; otherwise it ends itself,
and CUDA fails with error 802, `system not yet initialized`. Packages that are pinned one by one, or that ask for `>=`,
drift apart.

What to do: install both at one version and restart the service. Without NVSwitch nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.driver import Driver
from envdoctor.model import Finding, Severity


def check(driver: Driver) -> Iterable[Finding]:
    """Compare the two where there are NVSwitches and both versions are known."""
    version = driver.kernel_module.version if driver.kernel_module else driver.version
    manager = driver.fabric_manager
    if not driver.nvswitch or manager is None or version is None or manager == version:
        return
    yield Finding(
        Severity.ERROR,
        "nvidia-fabricmanager",
        f"fabric manager {manager} does not equal driver {version}",
        {"fabric_manager": manager, "driver": version},
        (
            f"install nvidia-fabricmanager {version}, and pin it together with the driver",
            "systemctl restart nvidia-fabricmanager",
        ),
    )
