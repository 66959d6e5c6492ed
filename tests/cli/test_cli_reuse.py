"""`check --reuse`: ranks that start at once look once."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from doctor import COMMAND

RANKS = 12


def started(doctor, patient, rank, *options):
    env = doctor.environment(LOCAL_RANK=str(rank), RANK=str(rank))
    command = [*COMMAND, "check", "--target", str(patient.prefix), "--reuse", "5m", "--format", "json", *options]
    return subprocess.Popen(command, cwd=doctor.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_ranks_that_start_at_once_share_one_check(patient, doctor):
    patient.delete("transformers/models.py")
    ranks = [started(doctor, patient, rank) for rank in range(RANKS)]
    answers = [(*rank.communicate(timeout=60), rank.returncode) for rank in ranks]
    assert {(err, status) for _, err, status in answers} == {(b"", 1)}
    reports = [json.loads(out) for out, _, _ in answers]
    assert sum("reuse" not in report["seen"] for report in reports) == 1
    assert len({json.dumps(report["findings"]) for report in reports}) == 1
    assert len({report["seconds"] for report in reports}) == 1


def ask(doctor, patient, *options, env=None):
    return doctor("check", "--target", patient.prefix, "--reuse", "5m", *options, env=env)


def reused(answer):
    return "reuse of a verdict that is" in answer.stdout


def test_a_verdict_is_printed_again_in_any_format_with_its_status(patient, doctor):
    assert not reused(ask(doctor, patient, "--fail-on", "note"))
    assert reused(ask(doctor, patient))
    patient.add("stray.py", "import torch\n")
    first = ask(doctor, patient, "--format", "json")
    assert "reuse" not in first.report["seen"], "something was put there"
    assert ask(doctor, patient, "--format", "json", "--fail-on", "warning").status == 1
    assert ask(doctor, patient, "--fail-on", "error").status == 0


@pytest.mark.parametrize(
    ("options", "env"),
    [
        (["--select", "packages"], None),
        (["--ignore", "packages"], None),
        ([], {"LD_LIBRARY_PATH": "/usr/local/cuda/lib64"}),
        ([], {"CUDA_VISIBLE_DEVICES": ""}),
        (["--deep"], None),
    ],
)
def test_another_question_is_checked(options, env, patient, doctor):
    ask(doctor, patient)
    assert not reused(ask(doctor, patient, *options, env=env))
    assert reused(ask(doctor, patient, *options, env=env))


def test_a_package_that_came_since_is_seen(patient, doctor):
    from patients import Wheel

    ask(doctor, patient)
    patient.install(Wheel("sglang", "0.5.9", {"sglang/__init__.py": ""}))
    answer = ask(doctor, patient)
    assert "sglang" in answer.stdout
    assert not reused(answer)


def test_what_a_lock_includes_and_what_lies_on_pythonpath_counts(patient, doctor, tmp_path):
    lock = patient.folder / "requirements.txt"
    (patient.folder / "base.txt").write_text(lock.read_text())
    lock.write_text("-r base.txt\n")
    env = {"PYTHONPATH": str(tmp_path / "more")}
    (tmp_path / "more").mkdir()

    def again():
        return reused(ask(doctor, patient, "--lock", lock, env=env))

    assert (again(), again()) == (False, True)
    (patient.folder / "base.txt").write_text((patient.folder / "base.txt").read_text().replace("2.3.5", "2.3.6"))
    assert (again(), again()) == (False, True)
    (tmp_path / "more/numpy.py").touch()
    assert (again(), again()) == (False, True)
    (patient.folder / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    assert (again(), again()) == (False, True)


def test_a_killed_check_holds_nobody_up(patient, doctor):
    rank = started(doctor, patient, 0)
    rank.kill()
    rank.communicate()
    assert ask(doctor, patient).status in (0, 1)


def test_a_plain_check_leaves_nothing_behind(patient, doctor):
    doctor("check", "--target", patient.prefix, "--no-state")
    assert not (Path(doctor.home) / f"envdoctor-{os.getuid()}").exists()
