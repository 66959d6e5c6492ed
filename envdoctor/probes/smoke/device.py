"""Torch cannot use the device, or does not see the same GPU there as NVML does.

Why it matters: a driver that torch cannot initialise, a stub in the place of libcuda, or an order of devices that is
not what the job script thinks puts the job on another GPU or on none.

What to do: follow the diagnosis. Where the two name different GPUs, set CUDA_DEVICE_ORDER=PCI_BUS_ID.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from envdoctor.facts.smoke import Attempt, Smoke
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.views.devices import Device, Devices
from envdoctor.views.diagnoses import Diagnoses


def check(smoke: Smoke, diagnoses: Diagnoses, devices: Devices | Unavailable) -> Iterable[Finding]:
    """Compare name, capability and UUID, where both tell them."""
    yield from diagnoses.of("device")
    known = {} if isinstance(devices, Unavailable) else {device.subject: device for device in devices.visible}
    for attempt in smoke.of("device"):
        if attempt.state == "passed" and attempt.device in known:
            yield from _differing(attempt, known[attempt.device])


def _differing(attempt: Attempt, device: Device) -> Iterator[Finding]:
    gpu, said = device.gpu, attempt.detail
    capability = list(gpu.capability) if gpu.capability is not None else None
    pairs = [
        ("name", "" if device.mig else gpu.name, said.get("name")),
        ("capability", capability, said.get("capability")),
        ("uuid", "" if device.mig else _digits(gpu.uuid), _digits(str(said.get("uuid", "")))),
    ]
    for what, nvml, torch in pairs:
        if nvml and torch and nvml != torch:
            yield Finding(
                Severity.ERROR,
                attempt.device,
                f"{attempt.device} is {torch} to torch and {nvml} to NVML ({what})",
                {**gpu.identity, "differs": what, "torch": dict(said)},
                ("export CUDA_DEVICE_ORDER=PCI_BUS_ID",),
            )
            return


def _digits(uuid: str) -> str:
    """Return the digits of a UUID: NVML writes `GPU-` before them, torch does not."""
    found = re.search(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", uuid.lower())
    return found[0] if found else ""
