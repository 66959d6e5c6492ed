"""The driver floated up past a pinned fabric manager, and CUDA said 802: dstackai/dstack#2348.

NVIDIA/gpu-driver-container#735 is the reverse: a fabric manager newer than the driver.
"""

import pytest
from fakes import FakeHost
from values import findings

from envdoctor.facts.driver import collect
from envdoctor.model import Severity
from envdoctor.probes.cuda.fabric_manager_mismatch import check


@pytest.fixture
def node(tmp_path):
    """Return a function that makes a node, looked at by --root, and judges it."""

    def judge(driver, manager, *, switches=True):
        write(tmp_path / "proc/driver/nvidia/version", f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {driver}  Tue")
        status = f"Package: nvidia-fabricmanager-535\nStatus: hold ok installed\nVersion: {manager}-1\n"
        write(tmp_path / "var/lib/dpkg/status", status)
        if switches:
            write(tmp_path / "proc/driver/nvidia-nvswitch/devices/0000:c4:00.0", "")
        return findings(check, driver=collect(None, FakeHost(root=str(tmp_path))))

    return judge


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("driver", "manager"), [("535.230.02", "535.183.01"), ("580.126.09", "590.48.01")], ids=["older", "newer"]
)
def test_it_must_equal_the_driver(node, driver, manager):
    (finding,) = node(driver, manager)
    assert (finding.severity, finding.subject) == (Severity.ERROR, "nvidia-fabricmanager")
    assert driver in finding.message
    assert manager in finding.message


def test_control_both_at_one_version(node):
    assert node("535.230.02", "535.230.02") == []


def test_control_a_machine_without_switches_needs_none(node):
    assert node("535.230.02", "535.183.01", switches=False) == []
