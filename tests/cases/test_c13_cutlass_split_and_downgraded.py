"""A package was split up: an upgrade loses its .pth, a downgrade leaves a new part behind: NVIDIA/cutlass#3132."""

import pytest
from patients import Patient, Wheel, findings

PTH = "nvidia_cutlass_dsl.pth"
UPGRADED = Wheel("nvidia-cutlass-dsl", "4.4.1", {PTH: "nvidia_cutlass_dsl\n"}, ("nvidia-cutlass-dsl-libs-base==4.4.1",))
BASE = Wheel("nvidia-cutlass-dsl-libs-base", "4.4.1", {"nvidia_cutlass_dsl/experimental/__init__.py": ""})
DOWNGRADED = Wheel("nvidia-cutlass-dsl", "4.3.0", {"nvidia_cutlass_dsl/__init__.py": "", PTH: "nvidia_cutlass_dsl\n"})


@pytest.fixture
def patient(tmp_path):
    return Patient(tmp_path)


def test_pth_that_the_upgrade_lost_is_a_missing_file(patient):
    patient.install(UPGRADED, requested=True)
    patient.install(BASE)
    patient.delete(PTH)
    (found,) = findings(patient.check(), "packages/missing-file")
    assert (found.subject, found.severity.label) == ("nvidia-cutlass-dsl", "error")
    assert found.evidence["paths"] == [PTH]


def test_part_that_the_downgrade_left_behind_is_an_orphan(patient):
    patient.install(DOWNGRADED, requested=True)
    patient.install(BASE)
    (found,) = findings(patient.check(), "packages/orphan")
    assert (found.subject, found.severity.label) == ("nvidia-cutlass-dsl-libs-base", "warning")


@pytest.mark.parametrize("wheels", [(UPGRADED, BASE), (DOWNGRADED,)])
def test_control_either_version_whole_has_no_error_or_warning(wheels, patient):
    for wheel in wheels:
        patient.install(wheel, requested=wheel is not BASE)
    assert patient.check().verdict == "healthy"
