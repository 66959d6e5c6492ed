"""A venv was renamed; its activate lets the system's Python run: pypa/virtualenv#2308, python-poetry/poetry#4654."""

import pytest
from patients import Patient, Wheel, findings

TRAIN = Wheel("trainer", "1.0", {"trainer.py": "def main(): ...\n"}, console_scripts={"train": "trainer:main"})
ACTIVATE = 'VIRTUAL_ENV="{prefix}"\nexport VIRTUAL_ENV\nPATH="$VIRTUAL_ENV/bin:$PATH"\nexport PATH\n'


@pytest.fixture
def patient(tmp_path):
    found = Patient(tmp_path / "project", "old")
    found.configure(command=f"python3 -m venv {found.prefix}")
    found.install(TRAIN, requested=True)
    (found.bin / "activate").write_text(ACTIVATE.format(prefix=found.prefix))
    return found


def renamed(patient):
    """Rename the environment, and return a patient at the new place."""
    found = object.__new__(Patient)
    found.__dict__ |= patient.__dict__
    found.prefix = patient.prefix.rename(patient.folder / "new")
    found.python = found.prefix / "bin/python"
    return found


def test_renamed_venv_is_told_by_its_scripts_and_activate_though_its_python_works(patient):
    report = renamed(patient).check()
    (found,) = findings(report, "environment/moved")
    assert (found.subject, found.severity.label) == (str(patient.folder / "new"), "error")
    assert found.evidence["named"] == str(patient.folder / "old")
    assert found.evidence["paths"] == [str(patient.folder / "new/bin/train")]
    assert found.evidence["activate"] == [str(patient.folder / "new/bin/activate")]
    assert findings(report, "environment/dangling-python") == []


def test_advice_is_to_make_it_anew_or_move_it_back_and_not_to_patch(patient):
    (found,) = findings(renamed(patient).check(), "environment/moved")
    assert found.remedy[0] == f"make the environment anew from its lock at {patient.folder}/new"
    assert found.remedy[1] == f"or move it back: mv {patient.folder}/new {patient.folder}/old"
    assert not any("sed" in step for step in found.remedy)


def test_control_the_venv_at_its_place_is_silent(patient):
    assert findings(patient.check()) == []
