"""A GPU reports hardware errors.

Why it matters: after an uncorrected memory error a process is killed or a result is wrong; a row or page that waits to
be repaired is still in use; a GPU that fell off the bus takes the job with it. Such faults stay with one node and look
like a fault of the program.

What to do: drain the node, reset the GPU (which also remaps rows), and have it tested if the errors come back. Errors
of the board's past alone (the aggregate counter) are no finding. Xids are read from the kernel log where this user may
read it, since the last start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from envdoctor import knowledge
from envdoctor.facts.driver import Driver, Gpu, Xid
from envdoctor.model import Finding, Severity
from envdoctor.views.devices import Devices

Complaint = tuple[Severity, str]


def check(driver: Driver, devices: Devices) -> Iterable[Finding]:  # noqa: ARG001 - without NVML there is nothing to judge
    """Give one finding a GPU, then one for each PCI address in the log that NVML no longer lists."""
    for gpu in driver.gpus:
        xids = [xid for xid in driver.xids if gpu.pci and _address(xid.pci) == _address(gpu.pci)]
        yield from _finding(gpu.uuid or f"GPU {gpu.index}", [*_counters(gpu), *_logged(xids)], gpu, xids, driver)
    known = {_address(gpu.pci) for gpu in driver.gpus if gpu.pci}
    for pci in sorted({xid.pci for xid in driver.xids if _address(xid.pci) not in known}):
        xids = [xid for xid in driver.xids if xid.pci == pci]
        yield from _finding(pci, list(_logged(xids)), None, xids, driver)


def _address(pci: str) -> tuple[int, ...]:
    """Return domain, bus and slot: NVML writes `00000000:01:00.0`, the log `0000:01:00`."""
    return tuple(int(part, 16) for part in pci.partition(".")[0].split(":") if part)


def _counters(gpu: Gpu) -> Iterator[Complaint]:
    if gpu.problem:
        yield Severity.ERROR, gpu.problem
    if gpu.repair_failed:
        yield Severity.ERROR, "a memory row could not be remapped"
    if gpu.ecc_uncorrected:
        yield Severity.WARNING, f"{gpu.ecc_uncorrected} uncorrected memory errors since the driver was loaded"
    if gpu.repair_pending:
        yield Severity.WARNING, "a memory repair waits for a reset"


def _logged(xids: Iterable[Xid]) -> Iterator[Complaint]:
    counts = Counter(xid.code for xid in xids)
    for row in knowledge.rows("xids"):
        if count := counts[row["code"]]:
            severity = Severity.WARNING if row["reset"] else Severity.NOTE
            yield severity, f"Xid {row['code']} ({row['what']})" + (f" {count} times" if count > 1 else "")


def _finding(
    subject: str, complaints: list[Complaint], gpu: Gpu | None, xids: list[Xid], driver: Driver
) -> Iterator[Finding]:
    if not complaints:
        return
    counters = {} if gpu is None else {**gpu.identity, "pci": gpu.pci, "ecc_uncorrected_ever": gpu.ecc_uncorrected_ever}
    lines = [f"{xid.code}, {xid.text}" for xid in xids[-5:]]
    name = f"GPU {gpu.index}" if gpu else f"the GPU at {subject}"
    yield Finding(
        max(severity for severity, _ in complaints),
        subject,
        f"{name}: {'; '.join(said for _, said in complaints)}",
        {**counters, "log": driver.log, "xids": lines},
        ("end its jobs, then as root: nvidia-smi --gpu-reset -i " + (gpu.uuid if gpu and gpu.uuid else "<GPU>"),),
    )
