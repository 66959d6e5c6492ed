"""The driver fact: files and NVML together; a hung NVML costs its time and nothing else."""

import os
import time

import pytest
from fakes import FakeHost
from patients import Patient

from envdoctor import codec
from envdoctor.facts import driver
from envdoctor.facts.driver import Driver, Gpu, KernelModule, Library
from envdoctor.model import Unavailable
from envdoctor.system import nvml
from envdoctor.system.nvml import Reading

LIBRARY = Library("/usr/lib/libnvidia-ml.so.1", "580.95.05", "directory")
VERSION = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Sun"


@pytest.fixture
def machine(monkeypatch):
    """Return a function that sets what the running machine has: names of `driver` that find it, replaced."""

    def have(read=None, **found):
        absent = {"kernel_module": None, "device_nodes": (), "pci_gpus": (), "nvswitch": False, "fabric_manager": None}
        for name, value in (absent | {"kernel_log": (None, ())} | found).items():
            if name != "libraries":
                monkeypatch.setattr(driver, name, lambda _, value=value: value)
        copies = found.get("libraries", {})
        monkeypatch.setattr(driver, "libraries", lambda _, soname: copies.get(soname, ()))
        if read is not None:
            monkeypatch.setattr(nvml, "read", read)
        return driver.collect(None, FakeHost())

    return have


def test_a_node_without_anything_of_nvidia_has_no_driver(tmp_path, machine):
    assert machine() == Unavailable("no NVIDIA driver on this node")
    assert driver.collect(None, FakeHost(root=str(tmp_path))) == driver.NONE_BELOW


def test_a_forward_compatibility_library_alone_is_no_driver(machine):
    compat = Library("/usr/local/cuda/compat/libcuda.so.1", "580.65.06", "LD_LIBRARY_PATH", "compat")
    assert isinstance(machine(libraries={"libcuda.so.1": (compat,)}), Unavailable)


def test_nvml_and_files_make_one_value(machine):
    gpu = Gpu(0, "GPU-1", capability=(9, 0))
    found = machine(
        lambda: Reading("580.95.05", (13, 0), (gpu,)),
        kernel_module=KernelModule("580.95.05", open=True),
        libraries={"libnvidia-ml.so.1": (LIBRARY,)},
    )
    assert found == Driver(
        "580.95.05",
        (13, 0),
        (gpu,),
        kernel_module=KernelModule("580.95.05", open=True),
        libnvidia_ml=(LIBRARY,),
    )


def test_a_hung_nvml_costs_its_time_and_leaves_the_files(machine, monkeypatch):
    monkeypatch.setattr(driver, "NVML_SECONDS", 0.2)
    began = time.monotonic()
    found = machine(
        lambda: time.sleep(60),
        kernel_module=KernelModule("580.95.05"),
        libraries={"libnvidia-ml.so.1": (LIBRARY,)},
    )
    assert time.monotonic() - began < 2
    assert found.problem == Unavailable("NVML gave no answer within 0.2 s", failed=True)
    assert (found.version, found.gpus, found.cuda) == ("580.95.05", (), None)


def test_a_hung_nvml_is_one_reason_of_a_whole_check(tmp_path, monkeypatch):
    monkeypatch.setattr(driver, "NVML_SECONDS", 0.2)
    monkeypatch.setattr(driver, "libraries", lambda *_: (LIBRARY,))
    monkeypatch.setattr(nvml, "read", lambda: time.sleep(60))
    report = Patient(tmp_path).check("node/busy-gpu", "node/gpu-errors", "node/orphaned-gpu-memory")
    (reason,) = {outcome.skipped for outcome in report.outcomes}  # how long is left of the limit depends on the load
    assert reason.reason.startswith("NVML gave no answer within 0.")
    assert reason.failed
    assert report.seconds < 5
    assert report.status() == 3


def test_a_crashing_nvml_is_a_reason(machine):
    found = machine(lambda: os._exit(1), libraries={"libnvidia-ml.so.1": (LIBRARY,)})
    assert found.problem == Unavailable("the process that read NVML died", failed=True)


def test_without_its_library_nvml_is_not_called(machine):
    found = machine(lambda: pytest.fail("called"), pci_gpus=("0000:01:00.0",))
    assert found.problem == Unavailable("libnvidia-ml.so.1 cannot be loaded")


def test_below_a_root_files_are_read_and_nvml_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr(nvml, "read", lambda: pytest.fail("called"))
    for path, content in {
        "proc/driver/nvidia/version": VERSION.encode(),
        "usr/lib/libnvidia-ml.so.1": b"\x7fELF\x02",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    found = driver.collect(None, FakeHost(root=str(tmp_path)))
    assert found.version == "580.95.05"
    assert found.problem.reason.startswith("--root")
    assert not found.problem.failed


def test_the_fabric_manager_is_looked_for_only_beside_switches(machine):
    module = KernelModule("580.95.05")
    assert machine(kernel_module=module, fabric_manager="580.1").fabric_manager is None
    assert machine(kernel_module=module, fabric_manager="580.1", nvswitch=True).fabric_manager == "580.1"


def test_it_travels_as_json():
    whole = Driver("580.95.05", (13, 0), (Gpu(0, "GPU-1"),), Unavailable("x"), KernelModule("580"), (LIBRARY,))
    assert codec.from_json(Driver, codec.to_json(whole)) == whole
