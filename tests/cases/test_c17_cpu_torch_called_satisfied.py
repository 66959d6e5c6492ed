"""torch 2.1.0+cpu satisfies ==2.1.0, so a plain install changes nothing: mistralai/mistral-inference#59."""

import pytest
from packaging.specifiers import SpecifierSet
from patients import Patient, Wheel, findings


def torch(label, cuda):
    text = f"__version__ = '2.1.0+{label}'\ncuda = {cuda!r}\nhip = None\n"
    return Wheel("torch", f"2.1.0+{label}", {"torch/__init__.py": "", "torch/version.py": text})


CPU, CUDA = torch("cpu", None), torch("cu121", "12.1")
XFORMERS = Wheel("xformers", "0.0.22.post7", {"xformers/__init__.py": ""}, ("torch==2.1.0",))


@pytest.fixture
def patient(tmp_path):
    found = Patient(tmp_path)
    found.install(XFORMERS, requested=True)
    found.lock([CUDA, XFORMERS])
    return found


def test_cpu_build_is_drift_though_the_requirement_is_satisfied(patient):
    patient.install(CPU)
    assert SpecifierSet("==2.1.0").contains(CPU.version)
    report = patient.check("packages", "packages/torch-cpu-build")
    assert {identity for identity, _ in findings(report)} == {"packages/drifted", "packages/torch-cpu-build"}
    (found,) = findings(report, "packages/drifted")
    assert found.severity.label == "error"
    assert found.evidence["locked"] == "2.1.0+cu121"


def test_advice_forces_the_label_and_says_why(patient):
    patient.install(CPU)
    (found,) = findings(patient.check(), "packages/drifted")
    assert "a plain install would leave" in found.message
    assert found.remedy[0].endswith("--force-reinstall --no-deps torch==2.1.0+cu121")


def test_a_torch_without_cuda_is_an_error_where_the_lock_asks_for_it(patient):
    patient.install(CPU)
    (found,) = findings(patient.check("packages/torch-cpu-build"), "packages/torch-cpu-build")
    assert found.severity.label == "error"
    assert "the lock asks for torch 2.1.0+cu121" in found.message
    assert found.remedy[0].endswith("--force-reinstall --no-deps torch==2.1.0+cu121")
    assert "a plain install would change nothing" in found.remedy[1]


def test_control_the_locked_build_is_silent(patient):
    patient.install(CUDA)
    assert findings(patient.check("packages", "packages/torch-cpu-build")) == []
