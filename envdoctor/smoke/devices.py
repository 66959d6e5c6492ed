"""Which devices to smoke: those that were named, else those that nobody is using."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from envdoctor.errors import UsageError
from envdoctor.model import Unavailable
from envdoctor.views.devices import Device, Devices
from envdoctor.views.occupants import Occupants

CPU = "cpu"
MOST = 256
"""Devices that one run may name: a slip such as 0-99999999 is not worked off."""
ADVICE = "name some with --devices; --devices cpu needs no GPU"
_RANGE = re.compile(r"(?:cuda:)?(\d{1,4})(?:-(\d{1,4}))?", re.ASCII)


def named(written: str) -> tuple[str, ...] | None:
    """Read what --devices says, e.g. `0,5-7` (numbers are torch's); None for `all`. Raises UsageError."""
    if written.strip() == "all":
        return None
    found: list[str] = []
    for part in written.split(","):
        if part.strip() == CPU:
            found.append(CPU)
            continue
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise UsageError(f"--devices: {part.strip()[:40]!r} is no device; write `all` alone, cpu, or 0,5-7")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise UsageError(f"--devices: {part.strip()} runs backwards; write {last}-{first}")
        found += [f"cuda:{number}" for number in range(first, last + 1)]
    if len(found) > MOST:
        raise UsageError(f"--devices: {len(found)} devices are more than any node has")
    return tuple(dict.fromkeys(found))


def chosen(
    written: str | None, devices: Devices | Unavailable, occupants: Occupants | Unavailable
) -> tuple[str, ...] | Unavailable:
    """Return the devices to smoke, or why there are none. Raises UsageError for what is no list of devices."""
    wanted = named(written) if written is not None else None
    if wanted is not None:
        return wanted
    if isinstance(devices, Unavailable):
        return Unavailable(f"{devices.reason}; {ADVICE}", failed=True)
    if not devices.visible and not devices.untold:
        return Unavailable(f"{_none(devices)}; {ADVICE}", failed=True)
    if written is not None:
        return tuple(f"cuda:{number}" for number in range(len(devices.visible) + len(_beyond(devices))))
    if isinstance(occupants, Unavailable):
        return Unavailable(f"who uses the GPUs cannot be told ({occupants.reason}); {ADVICE}", failed=True)
    return _free(devices, occupants)


def _none(devices: Devices) -> str:
    if devices.hidden:
        return f"CUDA_VISIBLE_DEVICES={devices.setting!r} hides all GPUs"
    if devices.repeated:
        return f"CUDA_VISIBLE_DEVICES={devices.setting!r} names {devices.repeated} twice, so that CUDA sees none"
    return "no GPU is visible" if devices.setting is None else f"CUDA_VISIBLE_DEVICES={devices.setting!r} names no GPU"


def _beyond(devices: Devices) -> Sequence[str]:
    """Return visible devices of which it is not known which GPU they are, where they are not in `visible` too."""
    return devices.untold if len(devices.untold) != len(devices.visible) else ()


def _free(devices: Devices, occupants: Occupants) -> tuple[str, ...] | Unavailable:
    told = [device for device in devices.visible if device.ordinal is not None]
    if not told:
        reason = "which cuda:N is which GPU cannot be told from outside"
        return Unavailable(f"{reason} (of unequal GPUs CUDA_DEVICE_ORDER=PCI_BUS_ID tells it); {ADVICE}", failed=True)
    free = tuple(device.subject for device in told if not occupants.of(device.gpu))
    if free:
        return free
    return Unavailable(f"every visible GPU is in use: {'; '.join(_users(told, occupants))}; {ADVICE}", failed=True)


def _users(told: Sequence[Device], occupants: Occupants) -> Iterator[str]:
    yield from (f"{device.subject} by {occupants.of(device.gpu)}" for device in told)
