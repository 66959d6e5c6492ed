"""A torch built for CUDA would find no GPU, or fewer than there are.

Why it matters: torch falls back to the CPU or stops at the first `.cuda()`. With an invalid entry in
CUDA_VISIBLE_DEVICES, CUDA ignores that one and all after it, and sees none at all if one is there twice.

What to do: mend the variable; give the container its GPUs; look for the lost GPU in the kernel log. A node without
NVIDIA hardware is a note: a login node may well hold the environment.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.driver import NONE_BELOW, Driver
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.views.devices import VARIABLE, Devices


def check(torch_build: TorchBuild, driver: Driver | Unavailable, devices: Devices | Unavailable) -> Iterable[Finding]:
    """Judge the node first, then what the job's variable leaves of it."""
    if torch_build.cuda is None:
        return
    if isinstance(driver, Unavailable):
        if not driver.failed and driver != NONE_BELOW:
            yield _none(Severity.NOTE, "no NVIDIA driver and no NVIDIA GPU on this node", {})
    elif driver.problem is not None:
        yield from _unread(driver, driver.problem)
    elif not driver.gpus:
        yield from _empty(driver)
    else:
        yield from _lost(driver)
        if isinstance(devices, Devices):  # otherwise the job's variables are not known, and the node is judged alone
            yield from _variable(devices, len(driver.gpus))


def _none(severity: Severity, message: str, evidence: dict[str, object], *remedy: str) -> Finding:
    return Finding(severity, "gpu", message, evidence, remedy)


def _found(driver: Driver) -> dict[str, object]:
    return {
        "pci": list(driver.pci),
        "device_nodes": [node.path for node in driver.device_nodes if node.usable],
        "kernel_module": driver.kernel_module.version if driver.kernel_module else None,
        "xids": [f"{xid.pci}: {xid.code}, {xid.text}" for xid in driver.xids[-5:]],
    }


def _unread(driver: Driver, problem: Unavailable) -> Iterable[Finding]:
    """Speak where NVML's refusal itself means that CUDA will find nothing; a mismatch is another probe's."""
    if driver.unheard or driver.refused_by_mismatch:
        return
    if problem.failed:
        yield _none(
            Severity.ERROR,
            f"the GPUs do not answer: {problem.reason}",
            _found(driver),
            "in a container: start it anew, it may have lost its devices",
            "otherwise look for NVRM in the kernel log",
        )
    else:
        yield from _empty(driver, problem.reason)


def _empty(driver: Driver, why: str = "NVML lists none") -> Iterable[Finding]:
    """No GPU: an error where the job was given device nodes, a warning where only the PCI bus shows any."""
    if any(node.usable for node in driver.device_nodes):
        yield _none(
            Severity.ERROR, f"there are device nodes and no GPU: {why}", _found(driver), "look for NVRM in dmesg"
        )
    elif driver.pci:
        yield _none(
            Severity.WARNING,
            f"the machine has {len(driver.pci)} NVIDIA GPUs and none can be used here: {why}",
            _found(driver),
            "in a container: start it with its GPUs (--gpus all)",
            "otherwise: install or load the driver (modprobe nvidia)",
        )
    else:
        yield _none(Severity.NOTE, f"no NVIDIA GPU on this node: {why}", _found(driver))


def _lost(driver: Driver) -> Iterable[Finding]:
    """Compare what NVML can talk to with the device nodes that this process may open."""
    answering = [gpu for gpu in driver.gpus if not gpu.problem]
    nodes = [node for node in driver.device_nodes if node.usable]
    if len(answering) < max(len(driver.gpus), len(nodes)):
        problems = sorted({gpu.problem for gpu in driver.gpus if gpu.problem})
        yield _none(
            Severity.WARNING if answering else Severity.ERROR,
            f"{len(answering)} of {max(len(driver.gpus), len(nodes))} GPUs answer"
            + (f": {', '.join(problems)}" if problems else ""),
            _found(driver),
            "look for NVRM in the kernel log; a lost GPU comes back with a reset or a restart",
        )


def _variable(devices: Devices, count: int) -> Iterable[Finding]:
    evidence = {"value": devices.setting, "gpus": count, "visible": len(devices.visible) + len(devices.untold)}
    if devices.repeated is not None:
        message = f"names {devices.repeated} twice, so that CUDA sees no GPU"
        yield Finding(Severity.ERROR, VARIABLE, message, evidence, (f"name each GPU once in {VARIABLE}",))
    elif devices.hidden:
        message = f"is {devices.setting!r}, which hides all {count} GPUs"
        yield Finding(Severity.WARNING, VARIABLE, message, evidence, (f"unset {VARIABLE}",))
    elif devices.invalid is not None and devices.invalid != "-1":
        rest = f" and ignores {', '.join(devices.ignored)} after it" if devices.ignored else ""
        message = f"names {devices.invalid!r}, which is none of the {count} GPUs here; CUDA stops there{rest}"
        yield Finding(Severity.ERROR, VARIABLE, message, evidence, (f"name GPUs of this node in {VARIABLE}",))
