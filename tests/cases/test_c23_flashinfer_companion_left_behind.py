"""flashinfer's kernel cache stays behind an upgrade, and a variable silences its guard: lightseekorg/tokenspeed#284."""

import pytest
from patients import Patient, Wheel, findings

PYTHON_HALF = Wheel("flashinfer-python", "0.6.11", {"flashinfer/__init__.py": ""})
BYPASS = {"FLASHINFER_DISABLE_VERSION_CHECK": "1"}


def kernels(version):
    return Wheel("flashinfer-jit-cache", version, {"flashinfer_jit_cache/__init__.py": ""})


@pytest.fixture
def patient(tmp_path):
    found = Patient(tmp_path)
    found.install(PYTHON_HALF, requested=True)
    found.lock([PYTHON_HALF])
    return found


def test_stale_kernels_are_skew_and_the_bypass_is_told_apart(patient):
    patient.install(kernels("0.6.9+cu130"))
    report = patient.check(env=BYPASS)
    (skew,) = findings(report, "packages/version-skew")
    (guard,) = findings(report, "environment/guard-bypassed")
    assert (skew.subject, skew.severity.label) == ("flashinfer-jit-cache", "error")
    assert skew.evidence["versions"] == {"flashinfer-python": "0.6.11", "flashinfer-jit-cache": "0.6.9+cu130"}
    assert (guard.subject, guard.severity.label) == ("FLASHINFER_DISABLE_VERSION_CHECK", "warning")


def test_skew_is_found_without_the_bypass_too(patient):
    patient.install(kernels("0.6.9+cu130"))
    report = patient.check()
    assert len(findings(report, "packages/version-skew")) == 1
    assert findings(report, "environment/guard-bypassed") == []


def test_control_a_build_label_is_no_skew(patient):
    patient.install(kernels("0.6.11+cu130"))
    assert findings(patient.check(), "packages/version-skew") == []
