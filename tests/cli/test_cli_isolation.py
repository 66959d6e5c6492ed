"""The doctor runs its own code alone, whatever lies in the job's PYTHONPATH or in the current directory."""

import sys
from pathlib import Path

import pytest

BAIT = ("typing", "signal", "json", "selectors", "tempfile", "tomllib", "typer", "click", "packaging")
"""What the doctor imports, of the standard library and of its own dependencies."""
MODULE = (sys.executable, "-m", "envdoctor")
SCRIPT = (str(Path(sys.executable).with_name("envdoctor")),)


@pytest.fixture
def bait(tmp_path):
    """A folder of modules that leave a mark when they run."""
    folder = tmp_path / "bait"
    for name in BAIT:
        (folder / name).mkdir(parents=True)
        code = f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r} + ' ')\nraise SystemExit(9)\n"
        (folder / name / "__init__.py").write_text(code)
    return folder


def assert_untouched(answer, tmp_path):
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()
    assert (answer.status, answer.stderr) == (0, "")


@pytest.mark.parametrize("command", [MODULE, SCRIPT], ids=["module", "script"])
def test_code_in_pythonpath_does_not_run_though_it_is_judged(command, bait, patient, doctor, tmp_path, monkeypatch):
    monkeypatch.setattr("doctor.COMMAND", command)
    answer = doctor.check(patient.prefix, env={"PYTHONPATH": str(bait)})
    assert_untouched(answer, tmp_path)
    assert str(bait) in [finding["subject"] for finding in answer.findings("environment/pythonpath")]


def test_code_in_the_current_directory_does_not_run(bait, patient, doctor, tmp_path, monkeypatch):
    monkeypatch.setattr("doctor.COMMAND", MODULE)
    assert_untouched(doctor("check", "--target", patient.prefix, cwd=bait), tmp_path)


@pytest.mark.parametrize("value", ["", ":", "."])
def test_an_entry_that_means_the_current_directory_does_not_let_it_in(value, bait, patient, doctor, tmp_path):
    answer = doctor("check", "--target", patient.prefix, cwd=bait, env={"PYTHONPATH": value})
    assert_untouched(answer, tmp_path)


def test_arguments_and_status_survive_the_second_start(bait, patient, doctor):
    patient.delete("transformers/models.py")
    answer = doctor.check(patient.prefix, "--select", "packages/missing-file", env={"PYTHONPATH": str(bait)})
    assert (answer.status, answer.said("error")) == (1, {("packages/missing-file", "transformers")})
