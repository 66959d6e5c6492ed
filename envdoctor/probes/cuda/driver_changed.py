"""The NVIDIA driver is not the one that the seal recorded.

Why it matters: a driver moves with the node, not with the environment, so no lock shows it. It compiles PTX, and it
decides which CUDA releases run; a change between two runs explains what a diff of packages cannot.

What to do: nothing, if the job runs. If it stopped running with the change, this is where to look first; seal again
once all is well. On another host than the sealed one the difference may be the hosts' own.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.driver import Driver
from envdoctor.facts.seal import Seal
from envdoctor.model import Finding, Severity


def check(driver: Driver, seal: Seal) -> Iterable[Finding]:
    """Compare versions; a seal without one says nothing."""
    if seal.driver and driver.version and driver.version != seal.driver:
        yield Finding(
            Severity.NOTE,
            "driver",
            f"the NVIDIA driver is {driver.version}; {seal.driver} it was on {seal.host} at the time of the seal",
            {"before": seal.driver, "now": driver.version, "sealed_at": seal.taken_at, "sealed_on": seal.host},
        )
