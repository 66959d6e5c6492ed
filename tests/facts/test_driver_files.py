"""What the driver leaves in files, on small real trees below a root, and on texts as the driver writes them."""

import os
import struct

import pytest
from fakes import FakeHost

from envdoctor.facts import driver_files
from envdoctor.facts.driver_files import DeviceNode, KernelModule, Library, Xid
from envdoctor.system.host import Completed

OPEN = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs-builder@host)  Tue Sep 23"
)
CLOSED = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\nGCC version:  gcc"
ELF = b"\x7fELF\x02"


@pytest.fixture
def node(tmp_path):
    """Return a function that writes files below a root (None: a folder) and gives a host that reads them there."""

    def write(files=(), **fields):
        for path, content in dict(files).items():
            place = tmp_path / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                place.mkdir()
            elif isinstance(content, str) and content.startswith("-> "):
                place.symlink_to(content[3:])
            else:
                place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return FakeHost(root=str(tmp_path), **fields)

    return write


@pytest.mark.parametrize(
    ("text", "module"),
    [
        (OPEN, KernelModule("580.95.05", open=True)),
        (CLOSED, KernelModule("535.183.01", open=False)),
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.135  Fri Jan 10", KernelModule("550.135", open=False)),
        ("", None),
        ("NVRM version: nothing known", None),
    ],
    ids=["open", "proprietary", "two numbers", "empty", "unknown"],
)
def test_the_loaded_module_is_parsed(text, module):
    assert driver_files.parse_version(text) == module


def test_the_module_is_read_below_the_root_and_by_sysfs_where_proc_says_nothing(node):
    assert driver_files.kernel_module(node()) is None
    assert driver_files.kernel_module(node({"/sys/module/nvidia/version": "580.65.06\n"})) == KernelModule("580.65.06")
    assert driver_files.kernel_module(node({"/proc/driver/nvidia/version": CLOSED})).version == "535.183.01"


@pytest.mark.parametrize(
    "path",
    [
        "/proc/driver/nvidia/version",
        "/sys/module/nvidia/version",
        "/sys/bus/pci/devices/0000:01:00.0/vendor",
        "/var/lib/dpkg/status",
        "/var/log/kern.log",
        "/usr/lib64/libcuda.so.1",
    ],
)
def test_a_fifo_in_the_place_of_a_file_is_no_file_and_is_not_waited_for(path, node, tmp_path):
    host = node({f"{path[: path.rindex('/')]}/beside": ""})
    os.mkfifo(tmp_path / path[1:])
    assert driver_files.kernel_module(host) is None
    assert driver_files.pci_gpus(host) == ()
    assert driver_files.fabric_manager(host) is None
    assert driver_files.kernel_log(host) == (None, ())
    assert driver_files.libraries(host, "libcuda.so.1") == ()


def cache(*entries):
    """Write a loader's cache as ldconfig does."""
    strings, records, start = b"", b"", 48 + 24 * len(entries)
    for name, path in entries:
        at = start + len(strings)
        strings += name.encode() + b"\0" + path.encode() + b"\0"
        records += struct.pack("=iIIIQ", 0x303, at, at + len(name) + 1, 0, 0)
    head = b"glibc-ld.so.cache1.1" + struct.pack("=II", len(entries), len(strings)) + bytes(20)
    return head + records + strings


def test_libraries_come_in_the_loaders_order_with_the_version_of_the_file_behind(node):
    host = node(
        {
            "/usr/local/cuda-13.0/compat/libcuda.so.580.65.06": ELF,
            "/usr/local/cuda-13.0/compat/libcuda.so.1": "-> libcuda.so.580.65.06",
            "/usr/lib/x86_64-linux-gnu/libcuda.so.535.183.01": ELF,
            "/usr/lib/x86_64-linux-gnu/libcuda.so.1": "-> libcuda.so.535.183.01",
            "/lib": "-> usr/lib",
            "/opt/nvidia/libcuda.so.550.90.07": ELF,
            "/opt/nvidia/libcuda.so.1": "-> /opt/nvidia/libcuda.so.550.90.07",
            "/etc/ld.so.cache": cache(("libcuda.so.1", "/opt/nvidia/libcuda.so.1"), ("libc.so.6", "/lib/libc.so.6")),
        },
        env={"LD_LIBRARY_PATH": "/nowhere::relative:/usr/local/cuda-13.0/compat"},
    )
    assert driver_files.libraries(host, "libcuda.so.1") == (
        Library("/usr/local/cuda-13.0/compat/libcuda.so.1", "580.65.06", "LD_LIBRARY_PATH", "compat"),
        Library("/opt/nvidia/libcuda.so.1", "550.90.07", "ld.so.cache"),
        Library("/lib/x86_64-linux-gnu/libcuda.so.1", "535.183.01", "directory"),
    )


def test_a_library_of_another_word_size_or_none_at_all_is_passed_over(node):
    host = node({"/usr/lib/libcuda.so.1": b"\x7fELF\x01", "/usr/lib64/libcuda.so.1": "-> gone", "/lib64/x": b""})
    assert driver_files.libraries(host, "libcuda.so.1") == ()


def test_a_name_without_a_version_is_unknown(node):
    (found,) = driver_files.libraries(node({"/usr/lib/libcuda.so.1": ELF}), "libcuda.so.1")
    assert found.version is None


@pytest.mark.parametrize(
    ("path", "real", "kind"),
    [
        ("/usr/local/cuda/compat/libcuda.so.1", "/usr/local/cuda-12.8/compat/lib.real/libcuda.so.570.1", "compat"),
        ("/env/cuda-compat/libcuda.so.1", "/env/cuda-compat/libcuda.so.570.1", "compat"),
        ("/links/libcuda.so.1", "/usr/local/cuda-12.8/compat/libcuda.so.570.1", "compat"),
        ("/usr/local/cuda/lib64/stubs/libcuda.so.1", "/usr/local/cuda-12.8/lib64/stubs/libcuda.so", "stub"),
        ("/usr/lib/libcuda.so.1", "/usr/lib/libcuda.so.570.1", "native"),
        ("/usr/lib/compatible/libcuda.so.1", "/usr/lib/compatible/libcuda.so.570.1", "native"),
    ],
)
def test_kinds_are_told_by_folders(path, real, kind):
    assert driver_files.kind_of(path, real) == kind


def test_device_nodes_of_gpus_are_listed_by_number(node):
    names = ("nvidia10", "nvidia2", "nvidiactl", "nvidia-uvm", "nvidia-nvswitch0")
    found = driver_files.device_nodes(node({f"/dev/{name}": "" for name in names}))
    assert found == (DeviceNode("/dev/nvidia2", usable=True), DeviceNode("/dev/nvidia10", usable=True))


def test_a_node_that_may_not_be_opened_is_not_usable(monkeypatch):
    monkeypatch.setattr(driver_files, "_names", lambda *_: ["nvidia0", "nvidia1"])
    monkeypatch.setattr(os, "access", lambda path, _: path == "/dev/nvidia1")
    assert [node.usable for node in driver_files.device_nodes(FakeHost())] == [False, True]


def test_gpus_on_the_bus_are_nvidias_display_controllers(node):
    devices = {
        "0000:01:00.0": ("0x10de\n", "0x030200\n"),
        "0000:02:00.0": ("0x10de\n", "0x068000\n"),
        "0000:03:00.0": ("0x1002\n", "0x030000\n"),
        "0000:04:00.0": ("0x10de\n", "0x030000\n"),
    }
    files = {
        f"/sys/bus/pci/devices/{address}/{name}": value
        for address, values in devices.items()
        for name, value in zip(("vendor", "class"), values, strict=True)
    }
    assert driver_files.pci_gpus(node(files)) == ("0000:01:00.0", "0000:04:00.0")


def test_switches_are_seen_by_their_driver_or_their_nodes(node):
    assert not driver_files.nvswitch(node({"/dev/nvidia-nvswitchctl": ""}))
    assert driver_files.nvswitch(node({"/dev/nvidia-nvswitch0": ""}))


def test_switches_are_seen_below_proc(node):
    assert not driver_files.nvswitch(node({"/proc/driver/nvidia-nvswitch/devices": None}))
    assert driver_files.nvswitch(node({"/proc/driver/nvidia-nvswitch/devices/0000:c0:00.0": ""}))


def package(name, version, status="install ok installed"):
    return f"Package: {name}\nStatus: {status}\nArchitecture: amd64\nVersion: {version}\nDescription: x\n more\n\n"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (package("nvidia-fabricmanager-535", "535.183.01-1"), "535.183.01"),
        (package("nvidia-fabricmanager", "1:580.95.05-0ubuntu0.24.04.1"), "580.95.05"),
        (package("bash", "5.2-1") + package("nvidia-fabricmanager-535", "535.183.01-1")[:-2], "535.183.01"),
        (
            package("nvidia-fabricmanager-535", "535.1.1-1", "deinstall ok config-files")
            + package("nvidia-fabricmanager-550", "550.54.15-1"),
            "550.54.15",
        ),
        (package("nvidia-fabricmanager-dev-535", "535.183.01-1"), None),
        (package("cuda-drivers-fabricmanager-535", "535.183.01-1"), None),
        (package("nvidia-fabricmanager", "unknown"), None),
        ("", None),
    ],
    ids=["nvidia", "epoch", "last, cut", "removed", "headers", "meta package", "no number", "empty"],
)
def test_the_installed_fabric_manager_is_found_in_the_package_database(text, version):
    assert driver_files.parse_dpkg(text) == version


def test_the_fabric_manager_is_asked_only_on_the_running_machine(node, monkeypatch):
    said = Completed(0, b"Fabric Manager version is : 535.161.08\n")
    monkeypatch.setattr(os.path, "isfile", lambda path: path == "/usr/bin/nv-fabricmanager")
    monkeypatch.setattr(driver_files, "_text", lambda *_: "")
    below = node(answer=said)
    assert (driver_files.fabric_manager(below), below.ran) == (None, [])
    here = FakeHost(answer=said)
    assert driver_files.fabric_manager(here) == "535.161.08"
    assert here.ran == [["/usr/bin/nv-fabricmanager", "--version"]]


LOG = """\
kernel: [    0.000000] Linux version 6.8.0-31-generic (buildd@lcy02)
kernel: [ 9000.1] NVRM: Xid (PCI:0000:01:00): 48, pid=1, before the restart
kernel: [    0.000000] Linux version 6.8.0-31-generic (buildd@lcy02)
kernel: [   10.1] NVRM: GPU at PCI:0000:01:00: GPU-1
kernel: [   10.2] NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
kernel: [   10.3] NVRM: Xid (PCI:0000:02:00 GPU-I:05): 94, pid=7194, Contained: CE User Channel (0x9).
kernel: [   10.4] NVRM: Xid (0000:03:00): 62
"""


def test_xids_since_the_last_start_are_read():
    assert driver_files.parse_xids(LOG) == (
        Xid("0000:01:00", 79, "pid='<unknown>', name=<unknown>, GPU has fallen off the bus."),
        Xid("0000:02:00", 94, "pid=7194, Contained: CE User Channel (0x9)."),
        Xid("0000:03:00", 62, ""),
    )


def test_the_first_log_that_can_be_read_counts(node):
    assert driver_files.kernel_log(node()) == (None, ())
    path, xids = driver_files.kernel_log(node({"/var/log/kern.log": None, "/var/log/syslog": LOG}))
    assert (path, [xid.code for xid in xids]) == ("/var/log/syslog", [79, 94, 62])


def test_only_the_end_of_a_long_log_is_read(node, monkeypatch):
    monkeypatch.setattr(driver_files, "LOG_TAIL", 60)
    _, xids = driver_files.kernel_log(node({"/var/log/kern.log": LOG}))
    assert [xid.code for xid in xids] == [62]
