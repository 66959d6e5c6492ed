"""Another process is using a GPU that the job would use.

Why it matters: the job runs out of memory later than it should, or both run at half speed. A worker whose parent was
killed lives on and keeps its memory.

What to do: wait for it, end it if it is yours, or choose another GPU with CUDA_VISIBLE_DEVICES. Processes that only
draw (a desktop) do not count.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.driver import Gpu, GpuProcess
from envdoctor.facts.gpu_use import GpuUse
from envdoctor.model import Finding, Severity
from envdoctor.printable import size_of
from envdoctor.views.devices import Device, Devices
from envdoctor.views.orphans import SLACK, unaccounted


def check(devices: Devices, gpu_use: GpuUse) -> Iterable[Finding]:
    """Name the living compute processes of each visible GPU; where they are hidden, the memory that they hold."""
    judged = set()
    for device in devices.visible:
        gpu = device.gpu
        if gpu.uuid in judged:
            continue
        judged.add(gpu.uuid)
        busy = [item for item in gpu.processes or () if item.kind == "compute" and not _ended(item, gpu_use)]
        if busy:
            yield _named(device, busy, gpu_use)
        elif gpu_use.hidden and unaccounted(gpu) > SLACK:
            yield _hidden(gpu, unaccounted(gpu), gpu_use.hidden)


def _ended(process: GpuProcess, gpu_use: GpuUse) -> bool:
    return gpu_use.hidden is None and gpu_use.holder(process.pid).state != "alive"


def _named(device: Device, busy: list[GpuProcess], gpu_use: GpuUse) -> Finding:
    listed = [
        {"pid": item.pid, "user": holder.user, "command": holder.command, "bytes": item.used}
        for item in busy
        for holder in [gpu_use.holder(item.pid)]
    ]
    first = listed[0]
    who = f"pid {first['pid']}" + (f" ({first['command']} of {first['user']})" if first["command"] else "")
    held = f" with {size_of(busy[0].used)}" if busy[0].used is not None else ""
    more = f" and {len(listed) - 1} more" if len(listed) > 1 else ""
    name = "" if device.ordinal is None else f", which would be {device.subject}"
    return Finding(
        Severity.WARNING,
        device.gpu.uuid,
        f"GPU {device.gpu.index}{name}, is used by {who}{held}{more}",
        {**device.gpu.identity, "device": device.subject, "processes": listed, "used": device.gpu.memory_used},
        ("wait for it, or choose another GPU with CUDA_VISIBLE_DEVICES", f"if it is yours: kill {first['pid']}"),
    )


def _hidden(gpu: Gpu, count: int, why: str) -> Finding:
    return Finding(
        Severity.WARNING,
        gpu.uuid,
        f"GPU {gpu.index}: {size_of(count)} are in use by processes that cannot be seen: {why}",
        {**gpu.identity, "used": gpu.memory_used, "unseen": count},
        ("ask on the host: nvidia-smi",),
    )
