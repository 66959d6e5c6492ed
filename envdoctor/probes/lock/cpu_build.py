"""A lock for CUDA pins a torch that is built without it.

Why it matters: training runs on the CPU, or fails at the first `.cuda()`. The label `+cpu` satisfies a plain
requirement, so that installers see nothing to mend. A lock that asks for CUDA nowhere is for the CPU, and no fault.

What to do: lock the CUDA build, from its index; keep the CPU build apart by markers or in a lock of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.builds import index_build, label_of, without_cuda
from envdoctor.companions import COMPANIONS
from envdoctor.facts.driver import Driver
from envdoctor.model import Finding, Lock, LockedPackage, Severity, Unavailable
from envdoctor.pointing import fault
from envdoctor.views.lock_cuda import LockCuda, asked

UNLABELLED = ("torch", *COMPANIONS)
"""Those whose build the index tells."""
LABELLED = (*UNLABELLED, "torchao", "torchcodec")


def check(lock: Lock, lock_cuda: LockCuda, driver: Driver | Unavailable) -> Iterable[Finding]:
    """Report each such pin once, at the first point where something asks for CUDA: a pin, or the node's GPUs."""
    gpus = 0 if isinstance(driver, Unavailable) else len(driver.gpus)
    node = f"the node has {gpus} NVIDIA GPU{'s' * (gpus > 1)}" if gpus else ""
    told: set[str] = set()
    for at in lock_cuda.points:
        if at.point.environment.markers.get("sys_platform") == "darwin":
            continue
        asker = asked(at.statements)
        why = f"{asker} asks for CUDA" if asker else node
        for name in LABELLED if why else ():
            pin = at.point.wanted.wanted.get(name)
            text = _without_cuda(pin) if pin is not None and name not in told else ""
            if pin is not None and text:
                told.add(name)
                yield fault(
                    Severity.ERROR,
                    lock,
                    pin,
                    f"{name} {pin.version} is built without CUDA ({text}), and {why} ({at.point.name})",
                    text=text,
                    asked=asker,
                    gpus=gpus,
                    remedy=(f"lock the CUDA build of {name}, from its index",),
                )


def _without_cuda(pin: LockedPackage) -> str:
    """Return the label or index that says so, "" if nothing does."""
    label = label_of(pin)
    if not label and pin.name in UNLABELLED and pin.source == "index":
        label = index_build(pin.url)
    return label if without_cuda(label) else ""
