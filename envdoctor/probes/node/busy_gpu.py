"""Another process is using a GPU that the job would use.

Why it matters: the job runs out of memory later than it should, or both run at half speed. A worker whose parent was
killed lives on and keeps its memory.

What to do: wait for it, end it if it is yours, or choose another GPU with CUDA_VISIBLE_DEVICES. Processes that only
draw (a desktop) do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from envdoctor.facts.driver import Gpu, GpuProcess
from envdoctor.facts.gpu_use import Holder
from envdoctor.model import Finding, Severity
from envdoctor.printable import size_of
from envdoctor.views.devices import Device, Devices
from envdoctor.views.occupants import Occupants, named


def check(devices: Devices, occupants: Occupants) -> Iterable[Finding]:
    """Name the living compute processes of each visible GPU; where they are hidden, the memory that they hold."""
    judged: dict[str, Device] = {}
    for device in devices.visible:
        judged.setdefault(device.gpu.uuid, device)
    for device in judged.values():
        gpu = device.gpu
        if busy := occupants.by_gpu.get(gpu.uuid):
            yield _named(device, busy)
        elif gpu.uuid in occupants.unseen:
            yield _hidden(gpu, occupants.unseen[gpu.uuid], occupants.hidden or "")


def _named(device: Device, busy: Sequence[tuple[GpuProcess, Holder]]) -> Finding:
    listed = [
        {"pid": item.pid, "user": holder.user, "command": holder.command, "bytes": item.used} for item, holder in busy
    ]
    first = busy[0][0]
    held = f" with {size_of(first.used)}" if first.used is not None else ""
    more = f" and {len(busy) - 1} more" if len(busy) > 1 else ""
    name = "" if device.ordinal is None else f", which would be {device.subject}"
    return Finding(
        Severity.WARNING,
        device.gpu.uuid,
        f"GPU {device.gpu.index}{name}, is used by {named(*busy[0])}{held}{more}",
        {**device.gpu.identity, "device": device.subject, "processes": listed, "used": device.gpu.memory_used},
        ("wait for it, or choose another GPU with CUDA_VISIBLE_DEVICES", f"if it is yours: kill {first.pid}"),
    )


def _hidden(gpu: Gpu, count: int, why: str) -> Finding:
    return Finding(
        Severity.WARNING,
        gpu.uuid,
        f"GPU {gpu.index}: {size_of(count)} are in use by processes that cannot be seen: {why}",
        {**gpu.identity, "used": gpu.memory_used, "unseen": count},
        ("ask on the host: nvidia-smi",),
    )
