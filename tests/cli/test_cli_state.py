"""What `check` writes down of its job, and `history` by the real command line."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from states import Story, clean, sick
from values import finding

from envdoctor.state import environments
from envdoctor.state.values import Subject

HOST = os.uname().nodename
JOB = {"CUDA_HOME": "/usr/local/cuda", "PIP_PASSWORD": "hunter2", "SLURM_JOB_ID": "1"}


@pytest.fixture
def path(doctor):
    return Path(doctor.home, ".local/state/envdoctor", f"{HOST}.sqlite")


def me(target):
    return Subject(HOST, str(os.geteuid()), str(target))


def test_a_check_remembers_its_job_and_the_same_job_writes_nothing(doctor, patient, path):
    doctor.check(patient.prefix, env=JOB)
    moment, kept = environments.last(str(path), me(patient.prefix))
    assert (kept["CUDA_HOME"], "PIP_PASSWORD" in kept, "SLURM_JOB_ID" in kept) == ("/usr/local/cuda", False, False)
    assert b"hunter2" not in path.read_bytes()
    doctor.check(patient.prefix, env={**JOB, "SLURM_JOB_ID": "2"})
    assert environments.last(str(path), me(patient.prefix))[0] == moment


def test_no_state_and_a_reused_verdict_write_nothing(doctor, patient, path):
    doctor.check(patient.prefix, "--no-state", env=JOB)
    assert not path.exists()
    doctor.check(patient.prefix, "--reuse", "10m", env=JOB)
    path.unlink()
    assert "reuse" in doctor.check(patient.prefix, "--reuse", "10m", env=JOB).report["seen"]
    assert not path.exists()


def test_a_damaged_state_is_said_by_the_check_that_sets_it_aside(doctor, patient, path):
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x" * 5000)
    said = doctor.check(patient.prefix).report["seen"]["state"]
    assert "is set aside as" in said
    assert len(list(path.parent.iterdir())) == 2


def test_history_tells_of_the_environment_at_hand(doctor, patient, path):
    story = Story(path, me(patient.prefix))
    for judged in (clean(), sick(finding()), sick(finding())):
        story.run(judged)
    answer = doctor("history", cwd=patient.folder)
    assert (answer.status, answer.stderr) == (0, "")
    assert "2 checks" in answer.stdout
    assert "six is not well" in answer.stdout
    assert "\x1b" not in answer.stdout
    document = json.loads(doctor("history", "--target", patient.prefix, "--format", "json").stdout)
    assert [span["verdict"] for span in document["environments"][0]["spans"]] == ["healthy", "sick"]


def test_a_history_outlives_its_environment(doctor, path):
    Story(path, me("/srv/gone")).run(clean())
    assert "healthy" in doctor("history", "--target", "/srv/gone").stdout
    assert "/srv/gone" in doctor("history", "--all").stdout


def test_without_a_history_it_says_how_to_get_one(doctor, path):
    answer = doctor("history")
    assert answer.status == 0
    assert "envdoctor health" in answer.stdout
    assert not path.exists(), "reading makes nothing"


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--since", "yesterday"], 2, "is no time"),
        (["--all", "--target", "/x"], 2, "say one of them"),
        ([], 3, "file is not a database"),
    ],
    ids=["no time", "two answers", "damaged"],
)
def test_what_cannot_be_told_is_one_line(doctor, path, arguments, status, said):
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x" * 5000)
    path.parent.chmod(0o700)
    answer = doctor("history", *arguments)
    assert answer.status == status
    assert said in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_a_later_schema_is_one_line_and_left_alone(doctor, path):
    Story(path).run(clean())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    answer = doctor("history")
    assert (answer.status, answer.stderr.count("\n")) == (3, 1)
    assert "schema 99" in answer.stderr
    assert path.read_bytes() == before
