"""The fact of the seal: there, not there, or damaged."""

import os

import pytest
from patients import Patient, Wheel

from envdoctor import seals
from envdoctor.errors import EnvDoctorError
from envdoctor.facts import seal
from envdoctor.model import Target, Unavailable


@pytest.fixture
def patient(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    patient = Patient(tmp_path)
    patient.install(Wheel("a", "1", {"a.py": ""}))
    return patient


def collect(patient):
    return seal.collect(Target(str(patient.prefix), str(patient.python)), patient.host())


def test_no_seal_is_no_failure_and_says_how_to_make_one(patient):
    assert collect(patient) == Unavailable("no seal: `envdoctor seal` records the good state")


def sealed(patient):
    one = seals.Seal("2026-06-03T14:22:00Z", "0", "node7", None, "p", (seals.SealedDistribution("a", "1", ""),))
    return seals.write(str(patient.prefix), one, [], None)


def test_a_seal_is_read(patient):
    sealed(patient)
    assert [item.name for item in collect(patient).distributions] == ["a"]


@pytest.mark.parametrize("damage", ["fifo", "directory", "loop", "garbage", "unreadable"])
def test_a_seal_that_cannot_be_read_is_a_failure(damage, patient, monkeypatch):
    path = sealed(patient)
    if damage == "unreadable":
        real = os.open

        def refuse(file, *rest, **options):
            if file == path:
                raise PermissionError(13, "Permission denied", file)
            return real(file, *rest, **options)

        monkeypatch.setattr(os, "open", refuse)
    elif damage == "garbage":
        patient.edit(path, b"\xff{")
    else:
        os.unlink(path)
        {"fifo": os.mkfifo, "directory": os.mkdir, "loop": lambda it: os.symlink(it, it)}[damage](path)
    with pytest.raises(EnvDoctorError, match=r"seal\.json"):
        collect(patient)


def test_with_a_damaged_seal_the_rest_is_judged_and_nothing_is_called_healthy(patient):
    patient.edit(sealed(patient), "{")
    report = patient.check("packages", "environment/freeze-bypassed")
    assert (report.status(), report.seen["packages"]) == (3, 1)
