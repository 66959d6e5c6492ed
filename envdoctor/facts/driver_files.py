"""What the NVIDIA driver leaves in files: kernel module, libraries, device nodes, fabric manager, kernel log.

Everything here also works below `--root`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from envdoctor.facts import ld_cache
from envdoctor.system.host import Host
from envdoctor.system.reading import head

LOADER_DIRECTORIES = (
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
)
"""Where the loader looks without being told (ld.so(8); the first four are Debian's)."""
KERNEL_LOGS = ("/var/log/kern.log", "/var/log/messages", "/var/log/syslog", "/var/log/dmesg")
LOG_TAIL = 1 << 20
"""Bytes of a kernel log's end that are read."""
STATUS_LIMIT = 1 << 24
"""Bytes of the package database that are read."""
_KERNEL = re.compile(r"Kernel Module\s+(?:for \S+\s+)?(\d+(?:\.\d+)+)")
_VERSION = re.compile(r"\.so\.(\d+(?:\.\d+)+)$")
_XID = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]+)[^)]*\): (\d+)(?:, (.*))?")
_RELEASE = re.compile(r"\d+(?:\.\d+)+")


@dataclass(frozen=True, slots=True)
class KernelModule:
    """The kernel module that is loaded."""

    version: str
    open: bool | None = None
    """True for the open kernel modules, False for the proprietary ones, None if it does not say."""


@dataclass(frozen=True, slots=True)
class Library:
    """One copy of a driver library."""

    path: str
    """Where the loader meets it; a host path."""
    version: str | None
    """The driver version in the name of the file behind it; None if the name has none."""
    origin: Literal["LD_LIBRARY_PATH", "ld.so.cache", "directory"]
    kind: Literal["native", "compat", "stub"] = "native"
    """`compat` for a forward-compatibility package's, `stub` for a toolkit's to link with."""


@dataclass(frozen=True, slots=True)
class DeviceNode:
    """A `/dev/nvidia<N>`."""

    path: str
    usable: bool
    """False where permissions or the job's device cgroup forbid it: the GPU is somebody else's."""


@dataclass(frozen=True, slots=True)
class Xid:
    """An error that the driver wrote to the kernel log."""

    pci: str
    """PCI address as written, without function: `0000:01:00`."""
    code: int
    text: str
    """The rest of the line, at most 200 characters."""


def kernel_module(host: Host) -> KernelModule | None:
    """Read the loaded module's version."""
    found = parse_version(_text(host, "/proc/driver/nvidia/version"))
    if found is None and (plain := _text(host, "/sys/module/nvidia/version").strip()):
        found = KernelModule(plain)
    return found


def parse_version(text: str) -> KernelModule | None:
    """Parse /proc/driver/nvidia/version (written by nv-procfs.c of NVIDIA's open kernel modules)."""
    match = _KERNEL.search(text)
    return KernelModule(match[1], "Open Kernel Module" in text) if match else None


def libraries(host: Host, soname: str) -> tuple[Library, ...]:
    """Find all copies of a library in the loader's order (ld.so(8)), the first being the one in use."""
    found: dict[str, Library] = {}
    for path, origin in _candidates(host, soname):
        real = host.resolve(path)
        if real not in found and _is_elf64(host.at(real)):
            match = _VERSION.search(real)
            found[real] = Library(path, match[1] if match else None, origin, kind_of(path, real))
    return tuple(found.values())


def _candidates(
    host: Host, soname: str
) -> Iterator[tuple[str, Literal["LD_LIBRARY_PATH", "ld.so.cache", "directory"]]]:
    for folder in host.env.get("LD_LIBRARY_PATH", "").split(":"):
        if folder.startswith("/"):
            yield os.path.join(folder, soname), "LD_LIBRARY_PATH"
    for entry in ld_cache.read(host) or ():
        if entry.name == soname:
            yield entry.path, "ld.so.cache"
    for folder in LOADER_DIRECTORIES:
        yield os.path.join(folder, soname), "directory"


def kind_of(path: str, real: str) -> Literal["native", "compat", "stub"]:
    """Tell a driver's own library from one of a forward-compatibility package or a toolkit's stubs, by its folders.

    The packages put it below `compat` (NVIDIA CUDA Compatibility, Forward Compatibility), conda-forge's cuda-compat
    below `cuda-compat`.
    """
    parts = {*os.path.dirname(path).split("/"), *os.path.dirname(real).split("/")}
    return "stub" if "stubs" in parts else "compat" if parts & {"compat", "cuda-compat"} else "native"


def device_nodes(host: Host) -> tuple[DeviceNode, ...]:
    """List the GPUs' device nodes; access(2) also asks the device cgroup (the kernel's inode_permission)."""
    nodes = sorted((int(name[6:]), f"/dev/{name}") for name in _names(host, "/dev") if re.fullmatch(r"nvidia\d+", name))
    return tuple(DeviceNode(path, bool(host.root) or os.access(host.at(path), os.R_OK | os.W_OK)) for _, path in nodes)


def pci_gpus(host: Host) -> tuple[str, ...]:
    """Return the PCI addresses of NVIDIA's display and 3D controllers (vendor 10de, class 03), driver or no driver."""
    folder = "/sys/bus/pci/devices"
    return tuple(
        name
        for name in sorted(_names(host, folder))
        if _text(host, f"{folder}/{name}/vendor").strip() == "0x10de"
        and _text(host, f"{folder}/{name}/class").startswith("0x03")
    )


def nvswitch(host: Host) -> bool:
    """Tell whether the node has NVSwitches that its own driver manages (up to the third generation)."""
    if _names(host, "/proc/driver/nvidia-nvswitch/devices"):
        return True
    return any(re.fullmatch(r"nvidia-nvswitch\d+", name) for name in _names(host, "/dev"))


def fabric_manager(host: Host) -> str | None:
    """Return the fabric manager's version by the package database or, on the running machine, by its own word."""
    found = parse_dpkg(_text(host, "/var/lib/dpkg/status", STATUS_LIMIT))
    program = "/usr/bin/nv-fabricmanager"
    if found or host.root or not os.path.isfile(program):
        return found
    match = re.search(rb"Fabric Manager version is\s*:\s*([\d.]+)", host.run([program, "--version"], timeout=2).stdout)
    return match[1].decode() if match else None


def parse_dpkg(text: str) -> str | None:
    """Find the installed nvidia-fabricmanager in dpkg's status file; the distribution's revision is left out."""
    for match in re.finditer(r"^Package: nvidia-fabricmanager(?:-\d+)?$", text, re.MULTILINE):
        fields = dict(line.split(": ", 1) for line in _paragraph(text, match.start()) if ": " in line)
        if fields.get("Status", "").endswith(" installed"):
            release = _RELEASE.match(fields.get("Version", "").rpartition(":")[2])
            return release[0] if release else None
    return None


def _paragraph(text: str, start: int) -> list[str]:
    end = text.find("\n\n", start)
    return text[start : end if end >= 0 else len(text)].split("\n")


def kernel_log(host: Host) -> tuple[str | None, tuple[Xid, ...]]:
    """Return the kernel log that could be read, and the Xids in it since the last boot."""
    for path in KERNEL_LOGS:
        if tail := _tail(host, path):
            return path, parse_xids(tail)
    return None, ()


def parse_xids(text: str) -> tuple[Xid, ...]:
    """Read the Xid lines that follow the last line of a kernel's start, which names its version."""
    since = text[max(text.rfind("Linux version "), 0) :]
    return tuple(Xid(pci, int(code), rest[:200]) for pci, code, rest in _XID.findall(since))


def _tail(host: Host, path: str) -> str:
    try:
        if os.path.isfile(host.at(path)):
            with open(host.at(path), "rb") as stream:
                stream.seek(max(0, os.fstat(stream.fileno()).st_size - LOG_TAIL))
                return stream.read(LOG_TAIL).decode(errors="replace")
    except OSError:
        pass  # kernel logs are closed to most users; the next one may not be
    return ""


def _names(host: Host, folder: str) -> Iterable[str]:
    try:
        return os.listdir(host.at(folder))
    except OSError:
        return ()


def _text(host: Host, path: str, limit: int = 1 << 16) -> str:
    return head(host.at(host.resolve(path)), limit).decode(errors="replace")


def _is_elf64(path: str) -> bool:
    return head(path, 5) == b"\x7fELF\x02"
