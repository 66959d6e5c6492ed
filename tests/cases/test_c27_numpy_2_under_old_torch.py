"""NumPy 2 under a torch built for NumPy 1, with no bound in its metadata: securefederatedai/openfederatedlearning#999.

The same fault lies behind Dao-AILab/flash-attention#1759, whose torch 2.2.0 has numpy 2.2.6 beside it.
"""

import pytest
from patients import Patient, Wheel, findings


def torch(version):
    return Wheel("torch", version, {"torch/__init__.py": ""}, ("filelock", "sympy"), tag="cp311-cp311-linux_x86_64")


def numpy(version):
    return Wheel("numpy", version, {"numpy/__init__.py": ""}, tag="cp311-cp311-manylinux_2_17_x86_64")


def check(folder, *wheels):
    patient = Patient(folder)
    for wheel in wheels:
        patient.install(wheel)
    return findings(patient.check("packages/numpy-abi"), "packages/numpy-abi")


@pytest.mark.parametrize(("old", "new"), [("2.2.2", "2.0.0"), ("2.2.0", "2.2.6")], ids=["C27", "C01"])
def test_it_is_an_error_that_names_both(tmp_path, old, new):
    (found,) = check(tmp_path, torch(old), numpy(new))
    assert (found.severity.label, found.subject) == ("error", "torch")
    assert old in found.message
    assert new in found.message
    assert "'numpy<2'" in found.remedy[0]


def test_control_the_first_torch_for_numpy_2_is_silent(tmp_path):
    assert check(tmp_path, torch("2.3.1"), numpy("2.0.0")) == []


def test_control_numpy_1_is_silent(tmp_path):
    assert check(tmp_path, torch("2.2.2"), numpy("1.26.4")) == []
