"""The NVIDIA driver of the node and its GPUs, from NVML and from the files that the driver leaves."""

from __future__ import annotations

from dataclasses import dataclass

from envdoctor.facts.driver_files import (
    DeviceNode,
    KernelModule,
    Library,
    Xid,
    device_nodes,
    fabric_manager,
    kernel_log,
    kernel_module,
    libraries,
    nvswitch,
    pci_gpus,
)
from envdoctor.model import Target, Unavailable
from envdoctor.system import forked, nvml
from envdoctor.system.host import Host
from envdoctor.system.nvml import Gpu, GpuProcess, Reading

__all__ = ["DeviceNode", "Driver", "Gpu", "GpuProcess", "KernelModule", "Library", "Xid", "collect"]

NOT_ASKED = Unavailable("--root: NVML speaks of the running machine alone")
NONE_BELOW = Unavailable("--root: none of the NVIDIA driver's files is there; containers get them from their host")
MISMATCH = Unavailable(nvml.QUIET["NVML_ERROR_LIB_RM_VERSION_MISMATCH"])
LATE = "NVML gave"
NVML_SECONDS = 3.0
"""How long NVML may take. It answers within 0.2 s where the driver keeps its GPUs initialised."""


@dataclass(frozen=True, slots=True)
class Driver:
    """The driver, and what it says of the GPUs."""

    version: str | None = None
    """By NVML, else the kernel module's, else that of the driver's own libcuda."""
    cuda: tuple[int, ...] | None = None
    """(major, minor) of the newest CUDA that it supports: a ceiling, no installed toolkit."""
    gpus: tuple[Gpu, ...] = ()
    problem: Unavailable | None = None
    """Why NVML could not be read; `gpus` and `cuda` are then empty because they are unknown."""
    kernel_module: KernelModule | None = None
    libcuda: tuple[Library, ...] = ()
    """Every copy of libcuda.so.1, in the loader's order."""
    libnvidia_ml: tuple[Library, ...] = ()
    """Every copy of libnvidia-ml.so.1, in the loader's order."""
    device_nodes: tuple[DeviceNode, ...] = ()
    pci: tuple[str, ...] = ()
    """PCI addresses of the NVIDIA GPUs that the machine has, a container's host included."""
    nvswitch: bool = False
    fabric_manager: str | None = None
    """Its version, looked for where there are NVSwitches; None if none was found."""
    log: str | None = None
    """The kernel log that could be read."""
    xids: tuple[Xid, ...] = ()
    """Errors in that log since the machine was started."""

    @property
    def refused_by_mismatch(self) -> bool:
        """True if NVML says that its library and the kernel module are of different versions."""
        return self.problem == MISMATCH

    @property
    def unheard(self) -> bool:
        """True if NVML was not asked, or did not answer in time: of the GPUs then nothing follows."""
        return self.problem == NOT_ASKED or (self.problem is not None and self.problem.reason.startswith(LATE))


def collect(target: Target, host: Host) -> Driver | Unavailable:  # noqa: ARG001 - every collector has this shape
    """Read the files, then NVML if its library is there to be loaded; what of it cannot be read is a reason."""
    module, nodes, pci = kernel_module(host), device_nodes(host), pci_gpus(host)
    libcuda, libnvidia_ml = libraries(host, "libcuda.so.1"), libraries(host, "libnvidia-ml.so.1")
    if not (module or nodes or pci or libnvidia_ml or any(copy.kind == "native" for copy in libcuda)):
        return NONE_BELOW if host.root else Unavailable("no NVIDIA driver on this node")
    reading = _nvml(host, libnvidia_ml)
    problem = reading if isinstance(reading, Unavailable) else None
    known = Reading(None, None) if isinstance(reading, Unavailable) else reading
    native = next((copy.version for copy in libcuda if copy.kind == "native"), None)
    switches = nvswitch(host)
    log, xids = kernel_log(host)
    return Driver(
        known.driver or (module.version if module else native),
        known.cuda,
        known.gpus,
        problem,
        module,
        libcuda,
        libnvidia_ml,
        nodes,
        pci,
        switches,
        fabric_manager(host) if switches else None,
        log,
        xids,
    )


def _nvml(host: Host, libnvidia_ml: tuple[Library, ...]) -> Reading | Unavailable:
    """Call NVML in a child of its own: one that hangs costs its time and no file of the driver."""
    if host.root:
        return NOT_ASKED
    if not libnvidia_ml:
        return Unavailable(nvml.QUIET["NVML_ERROR_LIBRARY_NOT_FOUND"])
    task = forked.Task("NVML", nvml.read, timeout=NVML_SECONDS)
    found: Reading | Unavailable = forked.gather([task], deadline=NVML_SECONDS)["NVML"]
    if isinstance(found, Unavailable) and found.reason.startswith("no answer"):
        return Unavailable(f"{LATE} {found.reason}", failed=True)
    return found
