"""One check in every format: valid by its schema, with the same findings and the same exit status."""

import json
import shlex
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest
from doctor import MACHINE
from junit_rules import broken_rules
from sarif_rules import is_taken_by_github, is_valid

FORMATS = ("text", "json", "sarif", "junit")
APART = [word for probe in MACHINE for word in ("--ignore", probe)]
HOSTILE = "bad\x1b[2J\u202e](x){0}<!--&.py"
LOG = "step 1\nRuntimeError: CUDA error: no kernel image is available for execution on the device\n"
MUTE = '[[mute]]\nprobe = "packages/missing-file"\nwhy = "known"\n'


def healthy(patient):
    return ()


def sick(patient):
    patient.delete("transformers/models.py")
    patient.add(HOSTILE)
    return ()


def unlocked(patient):
    (patient.folder / "requirements.txt").unlink()
    patient.delete("transformers/models.py")
    return ()


def muted(patient):
    patient.delete("transformers/models.py")
    (patient.folder / "envdoctor.toml").write_text(MUTE)
    return ()


def failed(patient):
    """Return the options for a log that is shown to the doctor; its findings have lines of their own."""
    (patient.folder / "job.log").write_text(LOG)
    return ("--log", patient.folder / "job.log")


def out_of_time(patient):
    """A log too long to be read in time: the doctor fails at part of its work."""
    with (patient.folder / "job.log").open("w") as log:
        log.write(LOG + "step 2\n" * 9000)
        log.truncate(1 << 40)
    return ("--log", patient.folder / "job.log", "--deadline", "1")


CASES = {healthy: 0, sick: 1, unlocked: 1, muted: 0, failed: 0, out_of_time: 3}
"""Case -> exit status."""


@pytest.mark.parametrize(("case", "status"), CASES.items(), ids=[case.__name__ for case in CASES])
def test_every_format_says_the_same(case, status, patient, doctor):
    common = ("check", "--target", patient.prefix, "--no-state", *APART, *case(patient))
    answers = {form: doctor(*common, "--format", form, cwd=patient.folder) for form in FORMATS}
    assert {answer.status for answer in answers.values()} == {status}
    assert {answer.stderr for answer in answers.values()} == {""}
    assert not any("\x1b" in answer.stdout or "\u202e" in answer.stdout for answer in answers.values())
    document = answers["json"].report
    run = sarif(answers["sarif"].stdout)
    root = ET.fromstring(answers["junit"].stdout)
    assert broken_rules(root) == []
    assert bool(document["muted"]) == (case is muted)
    told = [(found["probe"], found["severity"]) for found in (*document["findings"], *document["muted"])]
    assert sorted(told) == sorted((result["ruleId"], result["level"]) for result in run["results"])
    assert sum(bool(result["suppressions"]) for result in run["results"]) == len(document["muted"])
    cases = {case.get("name"): case for case in root.iter("testcase")}
    for found in document["findings"]:
        said = "".join(cases[found["probe"]].itertext())
        assert found["message"] in said
        assert found["subject"] in said
    for found in document["muted"]:
        assert f"muted: {found['subject']}: {found['message']}" in "".join(cases[found["probe"]].itertext())
    ids = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert ids == {*document["passed"], *(item["probe"] for item in document["skipped"]), *(p for p, _ in told)}
    assert run["invocations"][0]["executionSuccessful"] is not bool(document["failed"])
    errors = sum(item["failed"] for item in document["skipped"]) + len(document["failed"])
    assert len(list(root.iter("error"))) == errors


def sarif(text):
    document = json.loads(text)
    is_valid(document)
    (run,) = document["runs"]
    assert all(is_taken_by_github(result) for result in run["results"])
    return run


def test_lines_of_a_log_are_places(patient, doctor):
    options = failed(patient)
    answer = doctor(
        "check", "--target", patient.prefix, "--select", "log", "--format", "sarif", *options, cwd=patient.folder
    )
    (result,) = sarif(answer.stdout)["results"]
    physical = result["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == "job.log"
    assert physical["region"]["startLine"] == 2


def test_sarif_needs_no_current_directory(patient, doctor, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd {shlex.quote(str(gone))} && rmdir {shlex.quote(str(gone))} && exec "
    command = [sys.executable, "-m", "envdoctor", "check", "--target", str(patient.prefix), "--format", "sarif"]
    done = subprocess.run(
        ["/bin/sh", "-c", script + shlex.join([*command, *APART])],
        env=doctor.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    sarif(done.stdout)


def test_an_unknown_format_is_a_usage_error(patient, doctor):
    answer = doctor("check", "--target", patient.prefix, "--format", "html")
    assert (answer.status, answer.stdout) == (2, "")
    assert "sarif" in answer.stderr
