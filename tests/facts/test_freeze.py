"""What is looked at of a frozen environment, and that one that is not frozen costs nothing."""

import pytest
from fakes import FakeHost
from patients import Patient, Wheel

from envdoctor.facts import freeze
from envdoctor.facts.freeze import Freeze
from envdoctor.facts.search_path import PathEntry, SearchPath
from envdoctor.generations.freezing import freeze_tree
from envdoctor.model import Target
from envdoctor.seals import Seal

SIX = Wheel("six", "1.17.0", {"six.py": "", "six_more/__init__.py": "", "six_more/deep/x.py": ""})


@pytest.fixture
def patient(tmp_path):
    patient = Patient(tmp_path)
    patient.install(SIX)
    freeze_tree(str(patient.prefix))
    return patient


def look(patient, *, frozen=True):
    path = SearchPath((PathEntry(str(patient.site), "site-packages"),), None, user_site_enabled=False)
    seal = Seal("2026-01-01T00:00:00Z", "0.1.0", "node7", "3.12.3", "/usr/bin/python3", (), frozen=frozen)
    return freeze.collect(Target(str(patient.prefix), str(patient.python)), FakeHost(), path, seal)


def test_untouched(patient):
    assert look(patient) == Freeze(made=True, hashes=True)


@pytest.mark.parametrize(
    "path", [".", "bin", "pip.conf", "{site}", "{site}/six.py", "{site}/six_more", "{site}/six-1.17.0.dist-info"]
)
def test_what_is_writable_again_is_found(path, patient):
    found = patient.prefix / path.format(site=patient.site)
    found.chmod(found.stat().st_mode | 0o200)
    said = look(patient)
    assert (said.writable, said.count) == ((str(found),), 1)


def test_byte_code_that_a_start_as_root_wrote_is_no_change(patient):
    patient.site.chmod(0o755)
    (patient.site / "__pycache__").mkdir(exist_ok=True)
    (patient.site / "__pycache__").chmod(0o755)
    patient.site.chmod(0o555)
    assert look(patient).count == 0


def test_many_are_counted_and_the_first_are_named(patient):
    patient.site.chmod(0o755)
    for number in range(60):
        (patient.site / f"new{number}").mkdir()
    said = look(patient)
    assert (len(said.writable), said.count) == (50, 61)


@pytest.mark.parametrize("text", [None, b"", b"[install]\nrequire-hashes = false\n", b"damaged"])
def test_a_pip_conf_that_requires_nothing(text, patient):
    patient.prefix.chmod(0o755)
    path = patient.prefix / "pip.conf"
    path.unlink()
    if text is not None:
        path.write_bytes(text)
    assert not look(patient).hashes


def test_a_pip_conf_that_never_ends_is_not_read(patient):
    patient.prefix.chmod(0o755)
    patient.fifo(patient.prefix / "pip.conf")
    assert not look(patient).hashes


def test_one_that_is_not_frozen_is_not_looked_at(patient):
    assert look(patient, frozen=False) == Freeze()


def test_one_that_was_closed_without_the_command_is_not_looked_at(patient):
    (patient.prefix / ".envdoctor/freeze.json").unlink()
    assert look(patient) == Freeze()
