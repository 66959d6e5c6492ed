"""torch's `cuda:N`: which GPUs the job would see, and in which order.

Rules: NVIDIA CUDA Programming Guide, section 5.2.1 (CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER); for repetitions and for
what counts as a number, `_parse_visible_devices` of torch/cuda/__init__.py (2.x), which counts devices without CUDA.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from envdoctor.facts.driver import Driver, Gpu
from envdoctor.facts.variables import Variables
from envdoctor.model import Unavailable

VARIABLE = "CUDA_VISIBLE_DEVICES"
_NUMBER = re.compile(r"\s*([+-]?\d+)")


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU, or a slice of one, that the job would see."""

    ordinal: int | None
    """N of `cuda:N`; None where the order cannot be told."""
    gpu: Gpu
    mig: str = ""
    """The MIG device meant, as named by the variable or by NVML."""

    @property
    def subject(self) -> str:
        """`cuda:N`, else the GPU's UUID."""
        return self.gpu.uuid if self.ordinal is None else f"cuda:{self.ordinal}"


@dataclass(frozen=True, slots=True)
class Devices:
    """What the job would see."""

    visible: tuple[Device, ...]
    setting: str | None = None
    """CUDA_VISIBLE_DEVICES; None if it is not set."""
    invalid: str | None = None
    """Its first entry that names no GPU: CUDA ignores it and all that follow."""
    ignored: tuple[str, ...] = ()
    """What follows."""
    repeated: str | None = None
    """An entry that is there twice: CUDA then sees no device at all."""
    untold: tuple[str, ...] = ()
    """Ordinals that name some GPU, but CUDA's order of unequal GPUs (fastest first) is not known from outside."""

    @property
    def hidden(self) -> bool:
        """True if the variable hides all GPUs on purpose; `NoDevFiles` is Slurm's word for a job without GPUs."""
        return self.setting is not None and self.setting.strip() in ("", "-1", "NoDevFiles")


def view(driver: Driver, variables: Variables) -> Devices | Unavailable:
    """Map what the variables say onto NVML's GPUs, which are in PCI order."""
    if driver.problem:
        return driver.problem
    setting = variables.values.get(VARIABLE)
    ordered = _order_is_known(driver.gpus, variables.get("CUDA_DEVICE_ORDER"))
    if setting is not None:
        return _listed(setting, driver.gpus, ordered=ordered)
    devices = [Device(None, gpu, next(iter(gpu.mig_devices), "")) for gpu in driver.gpus if not gpu.problem]
    sliced = [device for device in devices if device.gpu.mig]
    if sliced and len(sliced) == len(devices):
        devices = sliced[:1]  # a process sees one MIG device (NVIDIA MIG User Guide, CUDA Device Enumeration)
    told = ordered and len(sliced) in (0, len(driver.gpus))
    return Devices(tuple(Device(at if told else None, item.gpu, item.mig) for at, item in enumerate(devices)))


def _order_is_known(gpus: Sequence[Gpu], order: str) -> bool:
    """CUDA puts the fastest first unless told to keep PCI order; among equal ones that is PCI order too."""
    if any(gpu.problem for gpu in gpus):
        return False
    return order == "PCI_BUS_ID" or len({gpu.name for gpu in gpus}) < 2


def _listed(setting: str, gpus: Sequence[Gpu], *, ordered: bool) -> Devices:
    entries = setting.split(",")
    named = entries[0].startswith(("GPU-", "MIG-"))
    found: list[Device] = []
    untold: list[str] = []
    seen: set[object] = set()
    for at, entry in enumerate(entries):
        device = _named(entry, gpus, entries[0][:4]) if named else _numbered(entry, gpus)
        if device is None:
            return Devices(tuple(found), setting, entry.strip(), tuple(entries[at + 1 :]), untold=tuple(untold))
        key = device.mig or device.gpu.index
        if key in seen:
            return Devices((), setting, repeated=entry.strip())
        seen.add(key)
        if named or ordered:
            found.append(Device(at, device.gpu, device.mig))
        else:
            untold.append(entry.strip())
    if untold and len(untold) == len(gpus):
        return Devices(tuple(Device(None, gpu) for gpu in gpus), setting, untold=tuple(untold))
    return Devices(tuple(found), setting, untold=tuple(untold))


def _numbered(entry: str, gpus: Sequence[Gpu]) -> Device | None:
    """Read an index as strtoul does: digits may be followed by anything."""
    match = _NUMBER.match(entry)
    index = int(match[1]) if match else -1
    return Device(None, gpus[index], next(iter(gpus[index].mig_devices), "")) if 0 <= index < len(gpus) else None


def _named(entry: str, gpus: Sequence[Gpu], prefix: str) -> Device | None:
    """Find the one GPU or MIG device whose UUID begins so; an old MIG name is `MIG-<GPU UUID>/<GI>/<CI>`."""
    if not entry.startswith(prefix):
        return None
    if prefix == "GPU-":
        fitting = [Device(None, gpu) for gpu in gpus if gpu.uuid.startswith(entry)]
    else:
        owner = entry[4:].partition("/")[0]
        fitting = [
            Device(None, gpu, entry)
            for gpu in gpus
            if gpu.mig and (gpu.uuid == owner or any(uuid.startswith(entry) for uuid in gpu.mig_devices))
        ]
    return fitting[0] if len(fitting) == 1 else None
