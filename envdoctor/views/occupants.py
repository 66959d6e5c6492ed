"""Which GPUs are in use: by living compute processes, or by memory that hidden ones hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from envdoctor.facts.driver import Driver, Gpu, GpuProcess
from envdoctor.facts.gpu_use import GpuUse, Holder
from envdoctor.model import Unavailable
from envdoctor.views.orphans import SLACK, unaccounted


@dataclass(frozen=True, slots=True)
class Occupants:
    """Who is on each GPU. Processes that only draw (a desktop) do not count."""

    by_gpu: Mapping[str, tuple[tuple[GpuProcess, Holder], ...]] = field(default_factory=dict)
    """UUID -> living compute processes."""
    unseen: Mapping[str, int] = field(default_factory=dict)
    """UUID -> bytes that processes hold which cannot be seen."""
    hidden: str | None = None
    """Why there may be processes that cannot be seen."""

    def of(self, gpu: Gpu) -> str:
        """Say who is on a GPU, "" if nobody is."""
        found = self.by_gpu.get(gpu.uuid, ())
        if found:
            more = f" and {len(found) - 1} more" if len(found) > 1 else ""
            return named(*found[0]) + more
        return f"a process that cannot be seen ({self.hidden})" if gpu.uuid in self.unseen else ""


def named(process: GpuProcess, holder: Holder) -> str:
    """Name a process: `pid 123 (python of bob)`."""
    return f"pid {process.pid}" + (f" ({holder.command} of {holder.user})" if holder.command else "")


def view(driver: Driver, gpu_use: GpuUse) -> Occupants | Unavailable:
    """Look at every GPU that NVML lists."""
    if driver.problem:
        return driver.problem
    alive = {gpu.uuid: tuple(_alive(gpu, gpu_use)) for gpu in driver.gpus}
    unseen = {}
    if gpu_use.hidden:
        unseen = {gpu.uuid: left for gpu in driver.gpus if (left := unaccounted(gpu)) > SLACK and not alive[gpu.uuid]}
    return Occupants(alive, unseen, gpu_use.hidden)


def _alive(gpu: Gpu, gpu_use: GpuUse) -> list[tuple[GpuProcess, Holder]]:
    pairs = [(process, gpu_use.holder(process.pid)) for process in gpu.processes or () if process.kind == "compute"]
    return [pair for pair in pairs if gpu_use.hidden is not None or pair[1].state == "alive"]
