"""Uninstalls that failed half-way leave renamed copies of torch: reported in vllm-project/vllm#12219."""

import os

import pytest
from patients import Patient, Wheel, findings

TORCH = Wheel("torch", "2.6.0", {"torch/__init__.py": "", "torch/lib/libtorch.so": b"\0" * 100})
METADATA = "Metadata-Version: 2.1\nName: torch\nVersion: 2.5.1\n"
TREES = ("~orch/lib/libtorch.so", "~~rch/lib/libtorch.so")


@pytest.fixture
def patient(tmp_path):
    found = Patient(tmp_path)
    found.install(TORCH, requested=True)
    found.lock([TORCH])
    return found


@pytest.mark.parametrize(
    "infos", [("~orch-2.5.1.dist-info", "~~rch-2.5.1.dist-info"), ()], ids=["known to pip", "bare"]
)
def test_leftovers_are_one_warning_with_their_size(infos, patient):
    for path in TREES:
        patient.add(path, b"\0" * 3_000_000)
    for info in infos:
        patient.add(f"{info}/METADATA", METADATA)
    report = patient.check()
    assert findings(report) == [("packages/leftover", str(patient.site))]
    (found,) = findings(report, "packages/leftover")
    assert found.severity.label == "warning"
    names = {os.path.basename(path) for path in found.evidence["paths"]}
    assert names == {"~orch", "~~rch", *infos}
    assert found.evidence["bytes"] == 6_000_000 + len(infos) * len(METADATA)
    assert "6.0 MB" in found.message


def test_leftovers_are_not_counted_as_installed(patient):
    patient.add("~orch-2.5.1.dist-info/METADATA", METADATA)
    assert patient.check().seen["packages"] == 1


def test_control_torch_alone_is_silent(patient):
    assert findings(patient.check()) == []
