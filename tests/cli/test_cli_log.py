"""`check --log FILE`: what the log shows is in the report, and a file that is no log is a usage error of one line."""

import os
import re
import time

import pytest

FX = "RuntimeError: Detected that you are using FX to symbolically trace a dynamo-optimized function.\n"
SPACE = "OSError: [Errno 28] No space left on device\n"
FULL = '[limits]\ndisk = "1024TiB"\n'
"""A configuration by which every disk is too small."""


@pytest.fixture
def log(tmp_path):
    return tmp_path / "train.log"


def subjects(answer):
    return [found["subject"] for found in answer.findings("log/known-failure")]


def test_a_known_failure_is_a_warning_with_its_place(patient, doctor, log):
    log.write_text(f"step 1\n[rank3]: {FX}")
    answer = doctor.check(patient.prefix, "--log", log)
    (found,) = answer.findings("log/known-failure")
    assert (answer.status, found["severity"], found["subject"]) == (0, "warning", "fx-trace-race")
    assert found["message"].endswith("(train.log:2)")
    assert (found["evidence"]["file"], found["evidence"]["line"]) == (str(log), 2)
    assert answer.report["seen"]["log"] == f"{log}: 1 known failure"
    assert doctor.check(patient.prefix, "--log", log, "--fail-on", "warning").status == 1


def test_a_healthy_log_is_said_to_be_one(patient, doctor, log):
    log.write_text("step 1\n")
    answer = doctor("check", "--target", patient.prefix, "--log", "train.log", cwd=log.parent)
    assert f"log {log}: no known failure" in answer.stdout


def test_without_a_log_its_probe_is_skipped_with_that_reason(patient, doctor):
    skipped = {entry["probe"]: entry["reason"] for entry in doctor.check(patient.prefix).report["skipped"]}
    assert skipped["log/known-failure"] == "no log was named (--log)"


@pytest.mark.parametrize("options", [[], ["--select", "node"], ["--select", "node/low-disk"]])
def test_a_finding_that_the_log_shows_is_an_error_whatever_is_selected(options, patient, doctor, log):
    log.write_text(SPACE)
    (log.parent / "envdoctor.toml").write_text(FULL)
    if not options:
        options = ["--select", "node/low-disk", "--select", "log"]
    quiet = doctor.check(patient.prefix, *options, "--config", "envdoctor.toml")
    answer = doctor.check(patient.prefix, *options, "--config", "envdoctor.toml", "--log", log)
    assert (quiet.status, answer.status) == (0, 1)
    found = answer.findings("node/low-disk", "error")
    assert found
    assert all(f["message"].endswith("; the log shows it (train.log:1)") for f in found)
    assert found[0]["evidence"]["log"] == {
        "file": str(log),
        "line": 1,
        "text": SPACE.strip(),
        "signature": "no-space",
    }
    assert subjects(answer) == []


@pytest.mark.parametrize("selected", ["packages", "log", "node/low-disk"])
def test_a_log_is_judged_whatever_is_selected(selected, patient, doctor, log):
    log.write_text(FX)
    answer = doctor.check(patient.prefix, "--select", selected, "--log", log)
    assert subjects(answer) == ["fx-trace-race"]
    assert answer.report["verdict"] == "warnings"


@pytest.mark.parametrize("options", [["--ignore", "log"], ["--select", "packages", "--ignore", "log/known-failure"]])
def test_a_log_that_is_ignored_is_said_to_be(options, patient, doctor, log):
    log.write_text(FX)
    answer = doctor.check(patient.prefix, *options, "--log", log)
    assert (subjects(answer), answer.report["verdict"]) == ([], "healthy")
    assert answer.report["seen"]["log"] == f"{log}: 1 known failure, not judged: log/known-failure is ignored"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--log", "a.log", "--log", "b.log"],
            "--log: one log at a time, not 2; concatenate them, or check once for each",
        ),
        (["--log", ""], "--log: the name of the log is empty"),
    ],
)
def test_a_log_is_one_that_has_a_name(options, said, patient, doctor):
    answer = doctor("check", "--target", patient.prefix, *options)
    assert (answer.status, answer.stdout, answer.stderr) == (2, "", f"envdoctor: {said}\n")


def test_text_report_quotes_the_line(patient, doctor, log):
    log.write_text(f"\x1b[31m{FX.strip()}\x1b[0m \x1b]0;title\x07\x08\n")
    answer = doctor("check", "--target", patient.prefix, "--select", "log", "--log", log)
    assert f"{log}:1: {FX.strip()} \\x08\n" in answer.stdout
    assert "see: envdoctor explain fx-trace-race  [log/known-failure]\n" in answer.stdout
    assert "\x1b" not in answer.stdout


def test_a_disk_that_the_log_does_not_name_stays_as_it_is(patient, doctor, log):
    log.write_text("OSError: [Errno 28] No space left on device: '/dev/shm/x'\n")
    (log.parent / "envdoctor.toml").write_text(FULL)
    answer = doctor.check(patient.prefix, "--select", "node/low-disk", "--select", "log", "--log", log)
    assert answer.status == 0
    assert answer.findings("node/low-disk")
    assert not any("log" in found["evidence"] for found in answer.findings("node/low-disk"))
    assert subjects(answer) == ["no-space"]


def test_several_things_of_a_kind_are_several_findings(patient, doctor, log):
    log.write_text("".join(f"{name}: cannot open shared object file: No such file or directory\n" for name in "aba"))
    answer = doctor.check(patient.prefix, "--log", log)
    assert subjects(answer) == ["library-missing"] * 2
    assert [found["evidence"]["count"] for found in answer.findings("log/known-failure")] == [2, 1]


def test_no_report_repeats_a_secret_of_the_log(patient, doctor, log):
    lines = (f"{'x' * 200} HF_TOKEN={'S3CRET' * 50} {FX}", f"git clone https://me:{'S3CRET' * 9}@h.example {FX}")
    for line in lines:
        log.write_text(line)
        answer = doctor("check", "--target", patient.prefix, "--select", "log", "--log", log)
        assert "Detected that you" in answer.stdout
        assert "S3CRET" not in answer.stdout


def test_an_empty_log_is_said_to_be_empty(patient, doctor, log):
    log.touch()
    answer = doctor.check(patient.prefix, "--log", log)
    skipped = {entry["probe"]: entry["reason"] for entry in answer.report["skipped"]}
    assert skipped["log/known-failure"] == f"the log is empty: {log}"
    assert (answer.status, answer.report["verdict"]) == (3, "warnings")
    assert "log" not in answer.report["seen"]


def test_a_traceback_that_is_not_known_is_not_healthy(patient, doctor, log):
    log.write_text(
        'step\nTraceback (most recent call last):\n  File "train.py", line 9, in <module>\nValueError: loss\n'
    )
    answer = doctor.check(patient.prefix, "--log", log)
    (found,) = answer.findings("log/known-failure")
    assert (found["subject"], found["severity"], answer.report["verdict"]) == ("traceback", "warning", "warnings")
    assert found["message"] == "the log holds a traceback that is not known: ValueError: loss (train.py:9)"
    assert found["remedy"] == [f"less +2 {log}"]
    assert answer.report["seen"]["log"] == f"{log}: no known failures, and a traceback"


def test_a_known_failure_is_explained_by_its_id(doctor):
    answer = doctor("explain", "fx-trace-race")
    assert answer.status == 0
    assert "\n\nfx-trace-race\n  says: one thread called" in answer.stdout
    assert "\n  1. envdoctor run --guard fx-race -- CMD" in answer.stdout
    wrong = doctor("explain", "fx-trace-rase")
    assert (wrong.status, wrong.stderr.count("\n")) == (2, 1)
    assert "did you mean fx-trace-race" in wrong.stderr


def environment(path):
    path.symlink_to("/proc/self/environ")


def directory(path):
    path.mkdir()


def binary(path):
    path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")


def absent(path):
    pass


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (absent, "No such file or directory"),
        (directory, "is not a regular file"),
        (os.mkfifo, "is not a regular file"),
        (environment, "is not a log file"),
        (binary, "is not text"),
    ],
)
@pytest.mark.parametrize("options", [[], ["--select", "packages/leftover"]])
def test_what_is_no_log_is_a_usage_error_of_one_line(make, said, options, patient, doctor, log):
    make(log)
    answer = doctor("check", "--target", patient.prefix, "--log", "train.log", *options)
    assert (answer.status, answer.stdout) == (2, "")
    assert answer.stderr == f"envdoctor: --log: {log}: {said}\n"


def test_a_huge_line_and_a_huge_log_are_read_in_no_time(patient, doctor, log):
    with log.open("wb") as stream:
        stream.write(b"=" * (32 << 20) + b"\n")
        stream.write(b"step=1 loss=2.31 lr=1e-5 \r" * (1 << 20))
        stream.write(f"\n{FX}".encode())
    began = time.monotonic()
    answer = doctor.check(patient.prefix, "--log", log)
    assert time.monotonic() - began < 10
    assert answer.findings("log/known-failure")[0]["evidence"]["line"] == 3


def test_a_log_that_has_no_end_is_given_up_at_the_deadline(patient, doctor, log):
    with log.open("wb") as stream:
        stream.truncate(1 << 42)
        stream.seek(0)
        stream.write(b"step 1\n" * 9000)
    answer = doctor.check(patient.prefix, "--log", log, "--deadline", "2")
    assert answer.status == 3
    (failed,) = answer.report["failed"]
    assert failed["fact"] == "job_log"
    assert re.fullmatch(
        r"the log was not read to its end within [\d.]+ s; give it more with --deadline", failed["reason"]
    )
