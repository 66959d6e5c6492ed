"""GPU memory that no living process accounts for; unknown where processes may be hidden."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from envdoctor.facts.driver import Driver, Gpu
from envdoctor.facts.gpu_use import GpuUse, Holder
from envdoctor.model import Unavailable

SLACK = 512 << 20
"""Bytes beside the driver's reserve that may be in use without a process: contexts that are just going, rounding."""


@dataclass(frozen=True, slots=True)
class Orphan:
    """One GPU with memory that nobody alive holds."""

    gpu: Gpu
    dead: tuple[Holder, ...]
    """Processes that NVML still names and that have ended."""
    unaccounted: int = 0
    """Bytes in use beyond those of all processes that NVML names."""


@dataclass(frozen=True, slots=True)
class Orphans:
    """All of them."""

    gpus: tuple[Orphan, ...]


def view(driver: Driver, gpu_use: GpuUse) -> Orphans | Unavailable:
    """Compare each GPU's memory in use with its processes, and those with /proc."""
    if gpu_use.hidden:
        return Unavailable(f"{gpu_use.hidden}: a process that is not seen may well be alive")
    return Orphans(tuple(_orphans(driver.gpus, gpu_use)))


def _orphans(gpus: Iterable[Gpu], gpu_use: GpuUse) -> Iterable[Orphan]:
    for gpu in gpus:
        holders = [gpu_use.holder(process.pid) for process in gpu.processes or ()]
        dead = tuple(holder for holder in holders if holder.state != "alive")
        bytes_left = unaccounted(gpu)
        if dead or bytes_left > SLACK:
            yield Orphan(gpu, dead, bytes_left if bytes_left > SLACK else 0)


def unaccounted(gpu: Gpu) -> int:
    """Return the bytes in use that no process of NVML's list holds; 0 where that cannot be told.

    It cannot where the GPU is sliced (MIG lists need privilege), where a process's share is not known, or where the
    operating system manages the memory and keeps pages of ended processes (NVML API guide, nvmlDeviceGetMemoryInfo_v2).
    """
    if gpu.mig or gpu.numa or gpu.memory_used is None or gpu.processes is None:
        return 0
    shares = [process.used for process in gpu.processes]
    return max(0, gpu.memory_used - sum(share for share in shares if share is not None)) if None not in shares else 0
