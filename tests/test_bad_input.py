"""Whatever stands in a file's place: an answer soon, one that is not `healthy`, and no crash."""

import time

import pytest
from patients import Patient, Wheel

from envdoctor.errors import LockError

TORCH = Wheel("torch", "2.11.0", {"torch/__init__.py": "", "torch/version.py": "__version__ = '2.11.0'\n"})


@pytest.fixture
def patient(tmp_path):
    patient = Patient(tmp_path)
    patient.install(TORCH, requested=True)
    return patient


INFO = "torch-2.11.0.dist-info"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"{INFO}/METADATA", 1),
        (f"{INFO}/RECORD", 1),
        ("torch/version.py", 1),
        ("../../../pyvenv.cfg", 3),
        ("../../../.envdoctor/seal.json", 3),
    ],
)
def test_a_fifo_hangs_nothing_and_is_never_healthy(path, status, patient):
    (patient.prefix / ".envdoctor").mkdir()
    patient.fifo(path)
    began = time.monotonic()
    report = patient.check(deadline=9)
    assert (report.status(), [outcome for outcome in report.outcomes if outcome.crashed]) == (status, [])
    assert time.monotonic() - began < 4


def test_a_fifo_as_lock_is_a_usage_error(patient):
    patient.fifo(patient.folder / "lock.txt")
    with pytest.raises(LockError, match=r"lock\.txt: is a FIFO, not a lock file"):
        patient.check(lock="lock.txt")


@pytest.mark.parametrize(
    "script", ["sleep 60", "echo '[[[['", "while :; do printf %65536s x; done", "kill -9 $$", "exit 1"]
)
def test_a_python_that_does_not_speak_does_not_keep_the_rest_from_being_judged(script, patient, monkeypatch):
    monkeypatch.setattr("envdoctor.facts.interpreter.ANSWER_WITHIN", 0.5 if "sleep" in script else 5.0)
    patient.interpreter(script)
    patient.edit("torch/__init__.py")
    report = patient.check("packages/altered-file", "environment/dangling-python")
    assert [finding.subject for probe, finding in report.findings() if probe == "packages/altered-file"] == ["torch"]


def test_several_kinds_of_damage_at_once_crash_nothing(patient):
    (patient.site / "loop").symlink_to("loop")
    patient.add("a-1.dist-info/METADATA", b"Name: a\r\nVersion: \xff\xfe1\r\nRequires-Dist: \xe9 ;;; (((\r\n")
    patient.add(
        "a-1.dist-info/RECORD",
        'nul\0.py,sha256=x,1\n"a, ""b"".py",md5=x,\n/etc/passwd,sha256=x,1\n../../../../x,sha256=x,1\n',
    )
    patient.add("b-.dist-info/RECORD", '"')
    patient.add(".dist-info/METADATA", "\0")
    patient.add("c.egg-info", b"\xff")
    patient.add("d.egg-link", "\0")
    patient.add("e.pth", b"\xff\0\nimport \0\n")
    report = patient.check()
    assert report.status() == 1
    assert [(outcome.probe, outcome.crashed) for outcome in report.outcomes if outcome.crashed] == []
    assert [outcome.skipped.reason for outcome in report.outcomes if outcome.skipped and outcome.skipped.failed] == []
