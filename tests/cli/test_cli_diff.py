"""`diff` by the real command line: two files, a pipe, now, and what cannot be found."""

import json
import subprocess

import pytest
from doctor import COMMAND
from patients import Wheel

from envdoctor import schemas


@pytest.fixture
def files(doctor, patient):
    """Two snapshots: a file was edited, and a package came, between them."""
    doctor("snapshot", "-o", "a.json", "--target", patient.prefix)
    patient.edit("numpy/__init__.py", "pi = 4; e = 3\n")
    patient.install(Wheel("sglang", "0.5.9", {"sglang.py": ""}))
    doctor("snapshot", "-o", "b.json", "--target", patient.prefix)
    return doctor.folder


def test_two_files_are_compared_without_any_target(doctor, files):
    told = doctor("diff", "a.json", "b.json")
    assert (told.status, told.stderr) == (1, "")
    assert "sglang 0.5.9 added" in told.stdout
    assert "1 file of numpy altered: numpy/__init__.py" in told.stdout
    assert told.stdout.startswith("CHANGED")
    told = doctor("diff", "a.json", "b.json", "--format", "json")
    assert {event["subject"] for event in told.report["events"]} >= {"sglang", "numpy"}
    assert told.report["before"]["source"] == "file"


def test_what_is_like_the_last_one_is_no_change(doctor, patient, files):
    """A file through a pipe, and now."""
    done = subprocess.run(
        [*COMMAND, "diff", "-", "now", "--target", patient.prefix],
        input=(files / "b.json").read_bytes(),
        env=doctor.environment(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"NO CHANGE")
    assert b"(standard input)" in done.stdout


def test_what_is_not_there_is_one_line(doctor, patient, tmp_path):
    (tmp_path / "broken.json").write_text("{")
    for asked, said in ((["broken.json"], "broken.json: not JSON"), ([], "no healthy run of ")):
        told = doctor("diff", *asked, "--target", patient.prefix)
        assert (told.status, told.stdout, told.stderr.count("\n")) == (2, "", 1)
        assert said in told.stderr


def test_the_schema_is_printed(doctor):
    assert doctor("schema", "diff").report == json.loads(schemas.render("diff"))
