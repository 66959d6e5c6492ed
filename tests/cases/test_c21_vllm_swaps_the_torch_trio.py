"""vllm pins an exact torch, so its install swaps torch, torchvision and torchaudio: vllm-project/vllm#34224."""

import pytest
from patients import DAY, JUNE, Patient, Wheel, findings


def trio(torch, vision, audio):
    return (
        Wheel("torch", torch, {"torch/__init__.py": ""}),
        Wheel("torchvision", vision, {"torchvision/__init__.py": ""}, (f"torch=={torch.partition('+')[0]}",)),
        Wheel("torchaudio", audio, {"torchaudio/__init__.py": ""}, (f"torch=={torch.partition('+')[0]}",)),
    )


BEFORE = trio("2.10.0+cu130", "0.25.0+cu130", "2.10.0+cu130")
AFTER = trio("2.9.1", "0.24.1", "2.9.1")
PINS = ("torch==2.9.1", "torchvision==0.24.1", "torchaudio==2.9.1")
VLLM = Wheel("vllm", "0.15.1", {"vllm/__init__.py": ""}, PINS)


@pytest.fixture
def patient(tmp_path):
    found = Patient(tmp_path)
    found.lock(BEFORE)
    return found


@pytest.mark.parametrize("apart", [0.0, DAY], ids=["one install", "times unrelated"])
def test_all_three_moves_are_blamed_on_vllm_by_its_own_pins(apart, patient):
    for wheel in AFTER:
        patient.install(wheel, at=JUNE + apart)
    patient.install(VLLM, requested=True, at=JUNE + 1)
    report = patient.check()
    (foreign,) = findings(report, "packages/foreign")
    drifted = findings(report, "packages/drifted")
    assert (foreign.subject, foreign.severity.label) == ("vllm", "error")
    assert {(f.subject, f.severity.label, f.evidence["cause"]) for f in drifted} == {
        ("torch", "error", "vllm"),
        ("torchvision", "error", "vllm"),
        ("torchaudio", "error", "vllm"),
    }
    assert {move.partition(" ")[0] for move in foreign.evidence["moved"]} == {"torch", "torchvision", "torchaudio"}


def test_vllm_that_pins_torch_alone_is_still_blamed_for_the_companions_that_came_with_it(patient):
    for wheel in AFTER:
        patient.install(wheel, at=JUNE)
    patient.install(Wheel("vllm", "0.15.1", {"vllm/__init__.py": ""}, PINS[:1]), requested=True, at=JUNE + 1)
    assert {f.evidence.get("cause") for f in findings(patient.check(), "packages/drifted")} == {"vllm"}


def test_control_the_locked_trio_is_silent(patient):
    for wheel in BEFORE:
        patient.install(wheel, requested=True)
    assert findings(patient.check()) == []
