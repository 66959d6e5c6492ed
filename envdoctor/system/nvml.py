"""NVML, NVIDIA's management library, read once; this module alone imports pynvml.

NVML can hang on a sick driver, so whoever calls `read` does so in a child of its own under a time limit. Meanings of
the values: NVIDIA's NVML API Reference Guide, the function named beside each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from envdoctor.model import Unavailable

QUIET = {
    "NVML_ERROR_LIBRARY_NOT_FOUND": "libnvidia-ml.so.1 cannot be loaded",
    "NVML_ERROR_DRIVER_NOT_LOADED": "the NVIDIA driver is not loaded",
    "NVML_ERROR_LIB_RM_VERSION_MISMATCH": "NVML: driver/library version mismatch",
}
"""Errors that say what the node is like; any other means that reading failed."""


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """A process that NVML says holds memory on a GPU (nvmlDeviceGetComputeRunningProcesses and its graphics twin)."""

    pid: int
    used: int | None
    """Bytes; None where NVML does not tell."""
    kind: Literal["compute", "graphics"] = "compute"


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU. What NVML would not tell of it is None."""

    index: int
    """NVML's, which is the order of PCI addresses."""
    uuid: str
    name: str = ""
    pci: str = ""
    """PCI address as NVML writes it: `00000000:01:00.0`."""
    capability: tuple[int, ...] | None = None
    """Compute capability: (major, minor)."""
    memory_total: int | None = None
    """Bytes."""
    memory_free: int | None = None
    """Bytes."""
    memory_reserved: int | None = None
    """Bytes that driver and firmware keep (nvmlDeviceGetMemoryInfo_v2)."""
    ecc: bool | None = None
    ecc_uncorrected: int | None = None
    """Uncorrected memory errors since the driver was loaded (volatile counter)."""
    ecc_uncorrected_ever: int | None = None
    """Uncorrected memory errors in the board's life (aggregate counter)."""
    repair_pending: bool | None = None
    """Rows to be remapped, or pages to be retired, at the next reset."""
    repair_failed: bool | None = None
    """A row could not be remapped."""
    mig: bool | None = None
    mig_devices: tuple[str, ...] = ()
    """UUIDs."""
    numa: bool = False
    """True where the operating system manages its memory and keeps pages of ended processes (Grace Hopper)."""
    processes: tuple[GpuProcess, ...] | None = None
    problem: str | None = None
    """Why it could not be asked at all, e.g. that it is lost."""

    @property
    def memory_used(self) -> int | None:
        """Bytes that processes hold: neither free nor reserved, whichever of the two ways NVML counts `used` in."""
        if self.memory_total is None or self.memory_free is None or self.memory_reserved is None:
            return None
        return max(0, self.memory_total - self.memory_free - self.memory_reserved)

    @property
    def identity(self) -> dict[str, object]:
        """What a finding's evidence says of it."""
        return {"uuid": self.uuid, "nvml_index": self.index, "name": self.name}


@dataclass(frozen=True, slots=True)
class Reading:
    """All that NVML said."""

    driver: str | None
    """Version of the driver, e.g. `580.95.05`."""
    cuda: tuple[int, ...] | None
    """The newest CUDA that it supports: its ceiling, no installed toolkit."""
    gpus: tuple[Gpu, ...] = ()


def read() -> Reading | Unavailable:
    """Ask NVML for everything. Each of its errors becomes a reason or a None."""
    import pynvml  # type: ignore[import-untyped]  # noqa: TID251 - this is the module that may

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return refusal(pynvml, error)
    ask = _Asker(pynvml)
    number = ask("nvmlSystemGetCudaDriverVersion_v2")
    gpus = tuple(_gpu(ask, index) for index in range(ask("nvmlDeviceGetCount") or 0))
    return Reading(ask("nvmlSystemGetDriverVersion"), decoded(number) if number else None, gpus)


def refusal(pynvml: Any, error: Exception) -> Unavailable:  # noqa: ANN401 - a module
    """Say why NVML could not be begun with."""
    for name, reason in QUIET.items():
        if getattr(error, "value", None) == getattr(pynvml, name):
            return Unavailable(reason)
    return Unavailable(f"NVML: {error}", failed=True)


def decoded(number: int) -> tuple[int, int]:
    """Take a CUDA version apart: 12020 is 12.2 (cuda.h: 1000 * major + 10 * minor)."""
    return number // 1000, number % 1000 // 10


class _Asker:
    """Calls functions of pynvml by name; None where NVML refuses or one of the two is too old to know the function."""

    def __init__(self, pynvml: Any) -> None:  # noqa: ANN401 - a module
        self.pynvml = pynvml

    def __call__(self, name: str, *arguments: Any) -> Any:  # noqa: ANN401 - each function has its own type
        try:
            return getattr(self.pynvml, name)(*arguments)
        except (self.pynvml.NVMLError, AttributeError):
            return None


def _gpu(ask: _Asker, index: int) -> Gpu:
    try:
        handle = ask.pynvml.nvmlDeviceGetHandleByIndex(index)
        uuid = ask.pynvml.nvmlDeviceGetUUID(handle)
    except ask.pynvml.NVMLError as error:
        return Gpu(index, "", problem=str(error))
    memory = ask("nvmlDeviceGetMemoryInfo", handle, getattr(ask.pynvml, "nvmlMemory_v2", None))
    modes = ask("nvmlDeviceGetEccMode", handle)
    mig = ask("nvmlDeviceGetMigMode", handle)
    pending, failed = _repair(ask, handle)
    return Gpu(
        index,
        uuid,
        ask("nvmlDeviceGetName", handle) or "",
        getattr(ask("nvmlDeviceGetPciInfo", handle), "busId", ""),
        _pair(ask("nvmlDeviceGetCudaComputeCapability", handle)),
        getattr(memory, "total", None),
        getattr(memory, "free", None),
        getattr(memory, "reserved", None),
        ecc=None if modes is None else bool(modes[0]),
        ecc_uncorrected=_uncorrected(ask, handle, "NVML_VOLATILE_ECC"),
        ecc_uncorrected_ever=_uncorrected(ask, handle, "NVML_AGGREGATE_ECC"),
        repair_pending=pending,
        repair_failed=failed,
        mig=None if mig is None else bool(mig[0]),
        mig_devices=_mig_devices(ask, handle) if mig and mig[0] else (),
        numa=ask("nvmlDeviceGetNumaNodeId", handle) is not None,
        processes=_processes(ask, handle),
    )


def _pair(values: Any) -> tuple[int, ...] | None:  # noqa: ANN401 - a list of pynvml's
    return None if values is None else tuple(values)


def _uncorrected(ask: _Asker, handle: object, counter: str) -> int | None:
    kind = ask.pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED
    count: int | None = ask("nvmlDeviceGetTotalEccErrors", handle, kind, getattr(ask.pynvml, counter))
    return count


def _repair(ask: _Asker, handle: object) -> tuple[bool | None, bool | None]:
    """Return whether a repair is pending and whether one failed: rows since Ampere, pages before it."""
    rows = ask("nvmlDeviceGetRemappedRows", handle)
    if rows is not None:
        return bool(rows[2]), bool(rows[3])
    pages = ask("nvmlDeviceGetRetiredPagesPendingStatus", handle)
    return None if pages is None else bool(pages), None


def _mig_devices(ask: _Asker, handle: object) -> tuple[str, ...]:
    slots = range(ask("nvmlDeviceGetMaxMigDeviceCount", handle) or 0)
    handles = [ask("nvmlDeviceGetMigDeviceHandleByIndex", handle, slot) for slot in slots]
    return tuple(uuid for part in handles if part is not None and (uuid := ask("nvmlDeviceGetUUID", part)))


def _processes(ask: _Asker, handle: object) -> tuple[GpuProcess, ...] | None:
    """List who holds memory, each once; None if NVML does not list the compute processes (MIG without privilege)."""
    found: dict[int, GpuProcess] = {}
    compute = ask("nvmlDeviceGetComputeRunningProcesses", handle)
    if compute is None:
        compute = ask("nvmlDeviceGetComputeRunningProcesses_v2", handle)  # drivers before 510
    graphics = ask("nvmlDeviceGetGraphicsRunningProcesses", handle)
    kinds: tuple[tuple[Literal["compute", "graphics"], Any], ...] = (("compute", compute), ("graphics", graphics))
    for kind, listed in kinds:
        for item in listed or ():
            found.setdefault(item.pid, GpuProcess(item.pid, item.usedGpuMemory, kind))
    return None if compute is None else tuple(found.values())
