"""Two NVIDIA wheels, for CUDA 12 and 13, install one libnccl.so.2: pytorch/pytorch#186591."""

import pytest
from patients import DAY, JUNE, Patient, Wheel, findings

LIBRARY = "nvidia/nccl/lib/libnccl.so.2"
FOR_12 = Wheel("nvidia-nccl-cu12", "2.29.3", {LIBRARY: b"\x7fELF built for 12"})
FOR_13 = Wheel("nvidia-nccl-cu13", "2.29.7", {LIBRARY: b"\x7fELF built for 13, which torch needs"})
VERSION = "__version__ = '2.12.0+cu130'\ncuda = '13.0'\nhip = None\n"
TORCH = Wheel("torch", "2.12.0", {"torch/__init__.py": "", "torch/version.py": VERSION}, ("nvidia-nccl-cu13==2.29.7",))


@pytest.fixture
def patient(tmp_path):
    """Torch with its own NCCL, over which the older one was installed a day later."""
    found = Patient(tmp_path)
    found.install(FOR_13)
    found.install(TORCH, requested=True)
    found.install(FOR_12, requested=True, at=JUNE + DAY)
    return found


def test_shared_library_is_a_collision_that_says_whose_bytes_are_there(patient):
    (found,) = findings(patient.check(), "packages/file-collision")
    assert found.severity.label == "error"
    assert found.evidence["on_disk"] == {LIBRARY: "nvidia-nccl-cu12"}
    assert "on disk are the bytes of nvidia-nccl-cu12" in found.message


@pytest.mark.parametrize("later", [FOR_12, FOR_13], ids=["intruder last", "intruder first"])
def test_advice_removes_the_intruder_and_then_puts_back_the_one_that_torch_needs(later, patient):
    patient.install(later, at=JUNE + 2 * DAY)
    (found,) = findings(patient.check(), "packages/file-collision")
    uninstall, reinstall = found.remedy
    assert uninstall.endswith("uninstall nvidia-nccl-cu12")
    assert reinstall.endswith("--force-reinstall --no-deps nvidia-nccl-cu13==2.29.7")


def test_two_families_on_one_path_are_said_with_the_same_cure(patient):
    (found,) = findings(patient.check("cuda/wheel-mix"), "cuda/wheel-mix")
    assert (found.severity.label, found.subject) == ("error", "nvidia-nccl-cu12")
    assert f"{patient.site}/{LIBRARY}" in found.message
    uninstall, reinstall = found.remedy
    assert uninstall.endswith("uninstall nvidia-nccl-cu12")
    assert reinstall.endswith("--force-reinstall --no-deps nvidia-nccl-cu13==2.29.7")


def test_plain_uninstall_of_the_intruder_takes_the_file_along(patient):
    patient.uninstall(FOR_12)
    report = patient.check()
    assert findings(report, "packages/file-collision") == []
    (found,) = findings(report, "packages/missing-file")
    assert (found.subject, found.evidence["paths"]) == ("nvidia-nccl-cu13", [LIBRARY])


def test_control_one_nccl_is_silent(tmp_path):
    patient = Patient(tmp_path)
    patient.install(FOR_13)
    patient.install(TORCH, requested=True)
    assert findings(patient.check("packages", "cuda/wheel-mix")) == []
