"""`diff` by the real command line: two files, the history of a scripted week, and what cannot be found."""

import json
import os
import subprocess
from pathlib import Path

import fastjsonschema
import pytest
from doctor import COMMAND
from patients import Wheel
from weeks import record_weeks

from envdoctor import schemas


def closed(schema):
    """Return a schema under which no key may be there that it does not name."""
    if isinstance(schema, dict):
        inner = {key: closed(value) for key, value in schema.items()}
        return inner | ({"additionalProperties": False} if "properties" in schema else {})
    return [closed(item) for item in schema] if isinstance(schema, list) else schema


@pytest.fixture
def files(doctor, patient):
    """Two snapshots: a file was edited, and a package came, between them."""
    doctor("snapshot", "-o", "a.json", "--target", patient.prefix)
    patient.edit("numpy/__init__.py", "pi = 4; e = 3\n")
    patient.install(Wheel("sglang", "0.5.9", {"sglang.py": ""}))
    doctor("snapshot", "-o", "b.json", "--target", patient.prefix)
    return doctor.folder


def test_two_files_are_compared_without_any_target(doctor, files):
    told = doctor("diff", "a.json", "b.json", cwd=files)
    assert (told.status, told.stderr) == (1, "")
    assert "sglang 0.5.9 added" in told.stdout
    assert "1 file of numpy altered: numpy/__init__.py" in told.stdout
    assert told.stdout.startswith("CHANGED")


def test_json_is_as_its_schema_says(doctor, files):
    told = doctor("diff", "a.json", "b.json", "--format", "json", cwd=files)
    fastjsonschema.compile(closed(json.loads(schemas.render("diff"))))(told.report)
    assert {event["subject"] for event in told.report["events"]} >= {"sglang", "numpy"}
    assert told.report["before"]["source"] == "file"
    assert doctor("schema", "diff").report == json.loads(schemas.render("diff"))


def test_a_file_and_itself_are_equal_and_now_is_like_the_last_one(doctor, patient, files):
    same = doctor("diff", "b.json", "b.json", cwd=files)
    assert (same.status, same.stdout.startswith("NO CHANGE")) == (0, True)
    now = doctor("diff", "b.json", "now", "--target", patient.prefix, cwd=files)
    assert (now.status, now.stdout.startswith("NO CHANGE")) == (0, True), now.stdout


def test_one_may_come_through_a_pipe(doctor, files):
    done = subprocess.run(
        [*COMMAND, "diff", "-", "b.json"],
        input=(files / "a.json").read_bytes(),
        env=doctor.environment(),
        cwd=files,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert b"(standard input)" in done.stdout


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["nothing.json", "now"], "nothing.json: No such file or directory; a snapshot is a file, a time, "),
        (["healthy"], "no healthy run of "),
        (["17"], "17: no snapshot of "),
        (["3d"], "3d: no snapshot of "),
        (["2026-13-45"], "'2026-13-45' is no time"),
        (["-", "-"], "standard input is one snapshot"),
        (["broken.json"], "broken.json: not JSON"),
    ],
)
def test_what_is_not_there_is_one_line(doctor, patient, tmp_path, asked, said):
    (tmp_path / "broken.json").write_text("{")
    told = doctor("diff", *asked, "--target", patient.prefix)
    assert (told.status, told.stdout) == (2, "")
    assert told.stderr.startswith("envdoctor: ")
    assert said in told.stderr
    assert told.stderr.count("\n") == 1


def story(doctor, patient, *asked):
    """Return {(area, subject): kind} of what is told that is more than a detail."""
    told = doctor("diff", *asked, "--target", patient.prefix, "--format", "json")
    assert told.status == (1 if told.report["events"] else 0)
    return {(e["area"], e["subject"]): e["kind"] for e in told.report["events"] if e["weight"] != "detail"}


@pytest.mark.whole
def test_a_scripted_week_is_told_right(doctor, patient):
    """Healthy, contaminated, the cache wiped, the toolkit swapped, rebuilt: from the history, step by step."""
    state = Path(doctor.home, ".local/state/envdoctor", f"{os.uname().nodename}.sqlite")
    state.parent.mkdir(parents=True, mode=0o700)
    record_weeks(state, str(patient.prefix), os.uname().nodename)
    contaminated = {("packages", "sglang"): "added", ("packages", "transformers"): "changed"}
    wiped = {("caches", "inductor cache"): "removed"}
    swapped = {("toolkit", "build"): "changed", ("variables", "CUDA_HOME"): "changed"}
    assert story(doctor, patient, "2026-06-02", "2026-06-02") == contaminated
    assert story(doctor, patient, "2026-06-03", "2026-06-03") == wiped
    assert story(doctor, patient, "2026-06-04", "2026-06-04") == swapped
    assert story(doctor, patient, "2026-06-05", "2026-06-05") == {}
    assert story(doctor, patient, "2026-06-02", "2026-06-05") == contaminated | wiped | swapped
    assert story(doctor, patient, "2026-06-02", "2026-06-07") == {}, "it is as it was"
    last = doctor("diff", "healthy", "1", "--target", patient.prefix)
    assert "run 1" in last.stdout
    assert "note    the first one is the younger one" in last.stdout
