"""What goes to which stream, for people, pipes and programs."""

import os
import re

import pytest

from envdoctor import registry

KEYS = {
    "schema",
    "envdoctor",
    "taken_at",
    "host",
    "target",
    "verdict",
    "findings",
    "passed",
    "skipped",
    "crashed",
    "failed",
    "muted",
}


def test_json_is_schema_1_and_stands_alone_on_standard_output(patient, doctor):
    patient.delete("transformers/models.py")
    answer = doctor("check", "--format", "json", "--target", patient.prefix)
    assert answer.stderr == ""
    report = answer.report
    assert report.keys() == KEYS | {"seconds", "config", "seen"}
    assert report["schema"] == 1
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", report["taken_at"])
    assert report["target"].keys() == {"prefix", "python", "lock"}
    assert report["target"]["prefix"] == str(patient.prefix)
    (finding,) = answer.findings(severity="error")
    assert finding.keys() == {"probe", "severity", "subject", "message", "evidence", "remedy"}
    assert finding["evidence"]["paths"] == ["transformers/models.py"]
    told = {f["probe"] for f in answer.findings()} | set(report["passed"]) | {s["probe"] for s in report["skipped"]}
    assert told == {probe.id for probe in registry.select()}


def test_text_puts_the_verdict_first_and_what_was_skipped_last(patient, doctor):
    patient.delete("transformers/models.py")
    answer = doctor("check", "--target", patient.prefix)
    assert answer.stdout.startswith("SICK  1 error\n")
    assert answer.stdout.index("transformers/models.py") < answer.stdout.index("skipped  no seal")
    assert answer.stderr == ""


def on_terminal(doctor, *arguments, **env):
    """Run with standard output on a pseudo-terminal and return what arrived there."""
    leader, follower = os.openpty()
    process = doctor.start(*arguments, stdout=follower, env={"TERM": "xterm"} | env)
    os.close(follower)
    received = b""
    try:
        while block := os.read(leader, 65536):
            received += block
    except OSError:
        pass  # Linux says EIO where the other side is closed
    process.communicate(timeout=20)
    return received


@pytest.mark.parametrize(
    ("env", "coloured"), [({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colour_is_for_terminals_that_want_it(env, coloured, patient, doctor):
    assert (b"\033[" in on_terminal(doctor, "check", "--target", str(patient.prefix), **env)) == coloured


def test_pipe_gets_no_colour(patient, doctor):
    assert "\033" not in doctor("check", "--target", patient.prefix, env={"TERM": "xterm"}).stdout


@pytest.mark.parametrize("arguments", [["explain"], ["check"]])
def test_reader_that_leaves_early_causes_no_traceback(arguments, patient, doctor):
    process = doctor.start(*arguments, env={"VIRTUAL_ENV": str(patient.prefix)})
    process.stdout.close()
    _, stderr = process.communicate(timeout=20)
    assert stderr == b""
    assert process.returncode in (0, 3)


def test_full_disk_behind_standard_output_is_one_line(patient, doctor):
    with open("/dev/full", "wb") as full:
        process = doctor.start("check", "--target", patient.prefix, stdout=full)
        _, stderr = process.communicate(timeout=20)
    assert process.returncode == 3
    assert stderr == b"envdoctor: standard output: No space left on device\n"


def test_closed_standard_output_changes_no_status(patient, doctor):
    patient.delete("transformers/models.py")
    process = doctor.start("check", "--target", patient.prefix, stdout=None, preexec_fn=lambda: os.close(1))
    _, stderr = process.communicate(timeout=20)
    assert (process.returncode, stderr) == (1, b"")


@pytest.mark.parametrize("form", ["text", "json"])
def test_undecodable_and_hostile_names_are_shown_escaped(form, patient, doctor):
    patient.add(os.fsdecode(b"bad\xff\x1b[2J.py"))
    answer = doctor("check", "--target", patient.prefix, "--format", form)
    assert r"bad\xff\x1b[2J.py" in answer.stdout.replace("\\\\", "\\")
    assert "\x1b" not in answer.stdout


def test_undecodable_folder_can_be_checked_and_sealed(tmp_path, doctor, patient):
    odd = tmp_path / os.fsdecode(b"odd\xfe \xc3\xa9")
    patient.folder.rename(odd)
    assert doctor("seal", "--target", odd / ".venv").status == 0
    answer = doctor.check(odd / ".venv", env={"PYTHONIOENCODING": "ascii"})
    assert answer.status == 0
    assert answer.report["target"]["prefix"].endswith("odd\\xfe é/.venv")


def test_version_is_one_line(doctor):
    assert re.fullmatch(r"envdoctor \d+\.\d+\.\d+\n", doctor("--version").stdout)


def test_explain_lists_every_probe_in_one_sentence_each(doctor):
    lines = [line for line in doctor("explain").stdout.splitlines() if line.startswith("  ")]
    assert len(lines) > 30
    assert all(re.fullmatch(r"  [a-z]+/[a-z-]+ +[^ ].*\.", line) for line in lines)


@pytest.mark.parametrize(
    ("asked", "shown"),
    [("packages/foreign", ["packages/foreign"]), ("policy", ["policy/expired-mute"])],
)
def test_explain_tells_one_probe_or_an_area(asked, shown, doctor):
    answer = doctor("explain", asked)
    assert answer.status == 0
    assert re.findall(r"^[a-z]+/[a-z-]+$", answer.stdout, re.MULTILINE) == shown
    assert "Why it matters:" in answer.stdout
    assert "What to do:" in answer.stdout


def test_explain_suggests_the_nearest_name(doctor):
    answer = doctor("explain", "packages/foriegn")
    assert answer.status == 2
    assert "did you mean packages/foreign" in answer.stderr
    assert answer.stderr.count("\n") == 1
