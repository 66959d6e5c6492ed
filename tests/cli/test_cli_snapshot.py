"""What was observed here is judged there: `snapshot`, `check --snapshot` and `schema`, by processes."""

import json
import os
import subprocess

import fastjsonschema
import pytest
from doctor import COMMAND

from envdoctor import schemas


@pytest.fixture
def sick(patient):
    patient.delete("transformers/models.py")
    return patient


def same(report):
    """Leave out what may differ: times, and where it was observed."""
    left = {key: value for key, value in report.items() if key not in ("seconds", "taken_at")}
    return left | {"seen": {key: value for key, value in report["seen"].items() if key != "snapshot"}}


def test_a_snapshot_is_judged_like_the_environment(sick, doctor):
    assert doctor("snapshot", "-o", "s.json", "--target", sick.prefix).status == 0
    here = doctor("check", "--target", sick.prefix, "--format", "json")
    sick.delete("numpy/__init__.py")
    there = doctor("check", "--snapshot", "s.json", "--format", "json")
    assert (there.status, there.stderr) == (1, "")
    assert same(there.report) == same(here.report)
    assert there.report["seen"]["snapshot"].startswith("s.json, taken on ")
    assert there.report["taken_at"] == json.loads((doctor.folder / "s.json").read_text())["taken_at"].replace(
        "+00:00", "Z"
    )


def test_it_goes_through_a_pipe(sick, doctor):
    taken = doctor("snapshot", "--target", sick.prefix)
    done = subprocess.run(
        [*COMMAND, "check", "--snapshot", "-", "--select", "packages/missing-file"],
        input=taken.stdout,
        env=doctor.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "transformers/models.py" in done.stdout
    assert "snapshot from standard input, taken on" in done.stdout


def test_the_configuration_of_the_target_travels_along(sick, doctor, tmp_path):
    (sick.prefix.parent / "envdoctor.toml").write_text(
        '[[mute]]\nprobe = "packages/missing-file"\nwhy = "known"\n', encoding="utf-8"
    )
    doctor("snapshot", "-o", "s.json", "--target", sick.prefix)
    quiet = doctor("check", "--snapshot", "s.json", "--select", "packages/missing-file", "--format", "json")
    assert (quiet.status, [f["subject"] for f in quiet.report["muted"]]) == (0, ["transformers"])
    (tmp_path / "own.toml").write_text("")
    loud = doctor("check", "--snapshot", "s.json", "--select", "packages/missing-file", "--config", "own.toml")
    assert loud.status == 1


def test_real_output_is_as_the_printed_schemas_say(sick, doctor):
    for what, command in (("snapshot", ["snapshot"]), ("report", ["check", "--format", "json"])):
        schema = doctor("schema", what)
        assert schema.status == 0
        assert schema.stdout == schemas.render(what)
        fastjsonschema.compile(schema.report)(doctor(*command, "--target", sick.prefix).report)


def test_no_password_gets_into_it(sick, doctor):
    env = {"PIP_INDEX_URL": "https://me:hunter2@index.example/simple"}
    lock = sick.prefix.parent / "requirements.txt"
    lock.write_text("--index-url https://you:hunter3@index.example/simple\n" + lock.read_text())
    answer = doctor("snapshot", "--target", sick.prefix, env=env)
    assert "****@index.example" in answer.stdout
    assert "hunter" not in answer.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["check", "--snapshot", "gone.json"], "--snapshot: gone.json: No such file or directory"),
        (["check", "--snapshot", "."], "--snapshot: .: is not a regular file"),
        (["check", "--snapshot", "pipe"], "--snapshot: pipe: is not a regular file"),
        (["check", "--snapshot", "text"], "--snapshot: text: not JSON, so it is no snapshot"),
        (["check", "--snapshot", "-"], "--snapshot: -: not JSON, so it is no snapshot"),
        (["check", "--snapshot", "x", "--target", "y", "--lock", "z"], "goes with no --target or --lock"),
        (["check", "--snapshot", "x", "--reuse", "1m"], "goes with no --reuse"),
        (["snapshot", "-o", "pipe"], "-o: pipe is there and is no file"),
        (["snapshot", "-o", "."], "-o: . is there and is no file"),
        (["snapshot", "--target", "nowhere"], "nowhere is not there"),
        (["schema", "everything"], "everything"),
        (["check", "--reuse", "soon"], "--reuse: 'soon' is no age of up to a day; say 30s, 10m or 2h"),
        (["check", "--reuse", "1m", "--no-state"], "say one of them"),
    ],
)
def test_bad_input_is_one_clear_line(options, said, doctor):
    os.mkfifo(doctor.folder / "pipe")
    (doctor.folder / "text").write_text("transformers==5.6.0\n")
    answer = doctor(*options)
    assert answer.status == 2
    assert said in answer.stderr
    assert answer.stdout == ""


def test_a_place_that_cannot_be_written_is_told_and_nothing_is_lost(sick, doctor):
    (doctor.folder / "s.json").mkdir()
    assert doctor("snapshot", "-o", "s.json/", "--target", sick.prefix).status == 2
    answer = doctor("snapshot", "-o", "/proc/s.json", "--target", sick.prefix)
    assert (answer.status, answer.stderr.count("\n")) == (3, 1)
    assert "cannot be written" in answer.stderr


def test_what_could_not_be_read_is_said_and_is_in_it(sick, doctor):
    (sick.prefix / ".envdoctor").mkdir()
    (sick.prefix / ".envdoctor/seal.json").write_text("{")
    answer = doctor("snapshot", "--target", sick.prefix)
    assert answer.status == 3
    assert "seal" in answer.stderr
    assert answer.report["facts"]["seal"]["unavailable"]["failed"] is True
    (doctor.folder / "s.json").write_text(answer.stdout)
    assert doctor("check", "--snapshot", "s.json", "--select", "packages/changed-since-seal").status == 3
