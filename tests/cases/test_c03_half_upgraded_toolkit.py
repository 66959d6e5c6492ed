"""traveller59/spconv#65: an upgrade that was broken off leaves nvcc 9.2 beside the headers of 10.1."""

import pytest
from patients import Patient, findings
from toolboxes import toolkit

PROBE = "cuda/toolkit-split"


@pytest.fixture
def patient(tmp_path):
    return Patient(tmp_path)


def judged(patient, nvcc, header):
    prefix = toolkit(patient.folder / "cuda", nvcc, header)
    report = patient.check(PROBE, env={"CUDA_HOME": str(prefix)})
    return str(prefix), [found for found in findings(report, PROBE) if found.subject == str(prefix)]


def test_compiler_and_headers_of_two_releases_are_an_error(patient):
    prefix, (found,) = judged(patient, "9.2", "10.1")
    assert found.severity.label == "error"
    assert found.evidence["nvcc"] == "9.2.0"
    assert found.evidence["headers"] == {f"{prefix}/include/cuda.h": "10.1"}
    assert all(part in found.message for part in ("9.2", "10.1", prefix))


@pytest.mark.parametrize("release", ["9.2", "10.1"])
def test_control_a_whole_toolkit_is_silent(release, patient):
    assert judged(patient, release, release)[1] == []
