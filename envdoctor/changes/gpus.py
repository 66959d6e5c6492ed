"""The driver and its GPUs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from envdoctor.changes.events import (
    AFTER,
    BEFORE,
    Event,
    Gap,
    Side,
    Weight,
    both,
    changed,
    counted,
    differing,
    either,
    told,
    yes,
)
from envdoctor.facts.driver import Driver
from envdoctor.printable import size_of
from envdoctor.system.nvml import Gpu

_STATES = {
    "ecc": ("ECC", Weight.NOTABLE),
    "mig": ("MIG", Weight.GRAVE),
    "repair_pending": ("a repair of its memory is pending", Weight.NOTABLE),
    "repair_failed": ("a repair of its memory failed", Weight.GRAVE),
}
"""What is on or off -> its name, and what a change means."""


def driver(old: Side[Driver], new: Side[Driver]) -> Iterator[Event | Gap]:
    """Compare versions, GPUs by UUID, and errors in the kernel log."""
    before, after = old.fact, new.fact
    if before.version != after.version:
        yield changed("driver", "driver", (before.version, after.version), Weight.GRAVE, "the driver")
    was, now = (seen.kernel_module.version if seen.kernel_module else None for seen in (before, after))
    if was != now and (was, now) != (before.version, after.version):
        yield changed("driver", "kernel module", (was, now), Weight.GRAVE, "the driver's kernel module")
    if before.fabric_manager != after.fabric_manager:
        ends = before.fabric_manager, after.fabric_manager
        yield changed("driver", "fabric manager", ends, Weight.GRAVE, "the fabric manager")
    yield from _xids(before, after)
    silent = [seen.problem for seen in (before, after)]
    if silent[0] is None and silent[1] is None:
        yield from _cuda(before, after)
        yield from _gpus(before, after)
        return
    for side, problem in ((BEFORE, silent[0]), (AFTER, silent[1])):
        if problem is not None:
            yield Gap("GPUs", side, problem.reason, problem.failed)


def _cuda(before: Driver, after: Driver) -> Iterator[Event]:
    ends = either(lambda cuda: ".".join(map(str, cuda)), before.cuda, after.cuda)
    if ends[0] != ends[1]:
        yield changed("driver", "driver CUDA", ends, what="the newest CUDA that the driver supports")


def _gpus(before: Driver, after: Driver) -> Iterator[Event | Gap]:
    for uuid, old, new in differing(*({gpu.uuid: gpu for gpu in seen.gpus} for seen in (before, after))):
        if old is None or new is None:
            ends = either(lambda gpu: f"{gpu.name}, NVML index {gpu.index}", old, new)
            yield changed("driver", uuid, ends, Weight.GRAVE if new is None else Weight.NOTABLE, f"GPU {uuid}")
        else:
            yield from _gpu(old, new)


def _gpu(old: Gpu, new: Gpu) -> Iterator[Event | Gap]:
    name = f"GPU {new.index} ({new.uuid})"
    if old.index != new.index:
        yield changed("driver", new.uuid, (str(old.index), str(new.index)), what=f"NVML's index of {new.uuid}")
    if old.problem != new.problem:
        yield changed("driver", new.uuid, (old.problem, new.problem), Weight.GRAVE, f"why {name} cannot be asked")
        return
    for attribute, (word, weight) in _STATES.items():
        was, now = getattr(old, attribute), getattr(new, attribute)
        if was != now and None not in (was, now):
            yield changed("driver", new.uuid, both(yes, was, now), weight, f"{name}: {word}")
    if set(old.mig_devices) != set(new.mig_devices):
        ends = both(lambda devices: counted(len(devices), "MIG device"), old.mig_devices, new.mig_devices)
        yield changed("driver", new.uuid, ends, Weight.GRAVE, name)
    if old.memory_total != new.memory_total and None not in (old.memory_total, new.memory_total):
        ends = either(size_of, old.memory_total, new.memory_total)
        yield changed("driver", new.uuid, ends, what=f"{name}: its memory")
    was, now = old.ecc_uncorrected_ever, new.ecc_uncorrected_ever
    if was is not None and now is not None and now > was:
        said = f"{name}: {counted(now - was, 'uncorrected memory error')} since"
        yield told("driver", new.uuid, (str(was), str(now)), said, Weight.GRAVE)


def _xids(before: Driver, after: Driver) -> Iterator[Event]:
    """Yield errors that the kernel log has and had not. It begins anew with every start of the machine."""
    if before.log is None or after.log is None:
        return
    was, now = (_tally(seen) for seen in (before, after))
    for (pci, code), count in sorted(now.items()):
        had = was.get((pci, code), 0)
        if count > had:
            said = f"Xid {code} of {pci}, {counted(count - had, 'time')}, in the kernel log"
            yield told("driver", f"Xid {code}", (str(had) if had else None, str(count)), said)


def _tally(seen: Driver) -> Mapping[tuple[str, int], int]:
    return Counter((xid.pci, xid.code) for xid in seen.xids)
