"""Dao-AILab/flash-attention#1759: an extension is built with the cluster's CUDA 12.9 for a torch of CUDA 11.8."""

import pytest
from patients import Patient, Wheel, findings
from toolboxes import toolkit

TORCH = Wheel("torch", "2.2.0", {"torch/__init__.py": "", "torch/version.py": "__version__ = '2.2.0'\ncuda = '11.8'\n"})
DEEPSPEED = Wheel("deepspeed", "0.14.0", {"deepspeed/__init__.py": ""})
PROBE = "cuda/toolkit-mismatch"


@pytest.fixture
def patient(tmp_path):
    found = Patient(tmp_path)
    found.install(TORCH, requested=True)
    return found


def judged(patient, release):
    prefix = toolkit(patient.folder / f"cuda-{release}", release, release)
    report = patient.check(PROBE, env={"CUDA_HOME": str(prefix), "PATH": f"{prefix}/bin:/usr/bin:/bin"})
    return prefix / "bin/nvcc", findings(report, PROBE)


def test_what_compiles_with_the_other_major_is_an_error_that_names_both_and_the_compiler(patient):
    patient.install(DEEPSPEED, requested=True)
    nvcc, (found,) = judged(patient, "12.9")
    assert (found.severity.label, found.subject) == ("error", str(nvcc))
    assert all(part in found.message for part in ("12.9", "11.8", str(nvcc), "deepspeed"))


def test_control_where_nothing_compiles_it_is_a_warning(patient):
    _, (found,) = judged(patient, "12.9")
    assert found.severity.label == "warning"


@pytest.mark.parametrize(("release", "severities"), [("11.7", ["note"]), ("11.8", [])])
def test_control_another_minor_is_a_note_and_the_same_release_is_silent(release, severities, patient):
    patient.install(DEEPSPEED, requested=True)
    _, found = judged(patient, release)
    assert [finding.severity.label for finding in found] == severities
