"""Sealing records a good state, and refuses a bad one."""

import hashlib
import os
from dataclasses import replace

import pytest
from patients import Patient, Wheel, findings

from envdoctor import seals
from envdoctor.errors import EnvDoctorError

TORCH = Wheel(
    "torch",
    "2.11.0",
    requires=("leaf",),
    files={"torch/__init__.py": "", "torch/version.py": "__version__ = '2.11.0+cu128'\ngit_version = 'abc'\n"},
)
LEAF = Wheel("leaf", "1.5", {"leaf.py": ""}, tag="py2.py3-none-any")


@pytest.fixture
def patient(tmp_path):
    patient = Patient(tmp_path)
    patient.install(TORCH, requested=True)
    patient.install(LEAF)
    return patient


def test_a_seal_holds_what_was_seen(patient):
    lock = patient.lock([TORCH, LEAF])
    patient.add("path.pth", "torch\n")
    done = patient.seal(lock=lock)
    seal = seals.read(str(patient.prefix))
    assert done.path == f"{patient.prefix}/.envdoctor/seal.json"
    assert done.summary == f"2 packages, lock {lock}"
    assert {(item.name, item.version, item.tags) for item in seal.distributions} == {
        ("leaf", "1.5", ("py2-none-any", "py3-none-any")),
        ("torch", "2.11.0", ("py3-none-any",)),
    }
    assert (seal.torch_version, seal.torch_git, seal.pth) == ("2.11.0+cu128", "abc", ("path.pth",))
    with open(lock, "rb") as stream:
        content = stream.read()
    assert (seal.lock_origin, seal.lock_digest) == (lock, hashlib.sha256(content).hexdigest())
    assert (patient.prefix / ".envdoctor" / seal.lock_name).read_bytes() == content
    assert seal.python_path == os.path.realpath(patient.python)
    assert patient.check(lock=lock).verdict == "healthy"


def test_a_sick_environment_is_not_called_good_unless_forced(patient):
    patient.edit("leaf.py")
    refused = patient.seal()
    assert (refused.path, findings(refused.report)[0]) == (None, ("packages/altered-file", "leaf"))
    assert seals.read(str(patient.prefix)) is None
    assert patient.seal(force=True).path


def test_one_that_could_not_be_checked_is_not_called_good(patient, monkeypatch):
    from envdoctor.facts import owners

    def fail(*_):
        raise PermissionError(13, "Permission denied", "/private")

    monkeypatch.setattr(owners, "Claims", fail)
    with pytest.raises(
        EnvDoctorError, match=r"^not sealed, since part of it could not be checked: /private: Permission denied$"
    ):
        patient.seal()
    assert patient.seal(force=True).path


def test_a_fact_that_every_probe_can_do_without_counts_as_well(patient, monkeypatch):
    from envdoctor.facts import torch_build

    monkeypatch.setattr(torch_build, "parse", lambda *_: os.stat("/gone/version.py"))
    with pytest.raises(EnvDoctorError, match=r"checked: /gone/version\.py: No such file or directory$"):
        patient.seal()


def test_what_cannot_be_read_at_all_cannot_be_sealed_even_by_force(patient):
    patient.site.rename(patient.folder / "aside")
    with pytest.raises(EnvDoctorError, match="cannot be sealed: no site-packages directory"):
        patient.seal(force=True)


@pytest.mark.parametrize("damage", ["fifo", "no CSV"])
def test_a_record_that_cannot_be_read_neither_hangs_nor_stops_a_forced_seal(damage, patient):
    record = patient.info(LEAF) / "RECORD"
    patient.fifo(record) if damage == "fifo" else record.write_text('"')
    assert patient.seal(force=True).path
    assert {item.name: bool(item.record) for item in seals.read(str(patient.prefix)).distributions} == {
        "leaf": False,
        "torch": True,
    }


@pytest.mark.parametrize("old", ["damaged", "of another build"])
def test_a_new_seal_does_not_depend_on_the_old_one(old, patient):
    if old == "damaged":
        (patient.prefix / ".envdoctor").mkdir()
        (patient.prefix / ".envdoctor/seal.json").write_text("damaged")
    else:
        patient.seal()
        patient.uninstall(LEAF)
        patient.install(replace(LEAF, files={"leaf.py": "rebuilt"}))
        assert findings(patient.check("packages/altered-build")) == [("packages/altered-build", "leaf")]
    assert patient.seal().path
    assert findings(patient.check("packages/altered-build", "environment/freeze-bypassed")) == []
