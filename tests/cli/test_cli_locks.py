"""Locks of every bad kind: one line that names the file, status 2, and nothing hangs."""

import os
import time

import pytest
from patients import Wheel

PIN = b"numpy==2.3.5 --hash=sha256:" + b"0" * 64 + b"\n"


def written(data):
    return lambda path: path.write_bytes(data)


def cycle(path):
    path.write_bytes(PIN + b"-r other.txt\n")
    path.with_name("other.txt").write_text(f"-r {path.name}\n")


BAD = {
    "fifo": (os.mkfifo, ""),
    "directory": (os.mkdir, ""),
    "dead link": (lambda path: path.symlink_to("gone"), ""),
    "binary": (written(bytes(range(256))), ""),
    "empty": (written(b""), ""),
    "NUL": (written(PIN + b"\0\n"), ""),
    "conflict marks in TOML": (written(b"version = 1\n<<<<<<< HEAD\n"), ":2: "),
    "no lock at all": (written(b"[project]\nname = 'x'\n"), ""),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_lock_is_one_line_that_names_it(kind, patient, doctor):
    make, said = BAD[kind]
    path = patient.folder / "bad.txt"
    make(path)
    began = time.monotonic()
    answer = doctor("check", "--target", patient.prefix, "--lock", path)
    assert (answer.status, answer.stdout) == (2, "")
    assert answer.stderr.count("\n") == 1
    assert str(path) in answer.stderr
    assert said in answer.stderr.partition("bad.txt")[2]
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("make", "rule", "place"),
    [
        (written(PIN + "# café\n".encode("latin-1")), "lock/bad-encoding", ["bad.txt", 2]),
        (written(PIN + b"--no-such-option\n"), "lock/unknown-directive", ["bad.txt", 2]),
        (written(PIN + b"torch 2.11.0\n"), "lock/unknown-directive", ["bad.txt", 2]),
        (written(b"<<<<<<< HEAD\n" + PIN), "lock/over-limit", ["bad.txt", 1]),
        (cycle, "lock/escaping-include", ["other.txt", 1]),
    ],
    ids=["latin-1", "unknown option", "no requirement", "conflict marks", "include cycle"],
)
def test_line_that_is_not_understood_is_counted_by_a_check_and_told_by_an_audit(make, rule, place, patient, doctor):
    path = patient.folder / "bad.txt"
    make(path)
    (found,) = doctor.check(patient.prefix, "--lock", path).findings("lock/faulty")
    assert found["severity"] == "warning"
    assert rule in found["evidence"]["rules"]
    audited = doctor("lock", "audit", path, "--format", "json")
    (told,) = [each for each in audited.report["findings"] if each["probe"] == rule]
    assert (audited.status, told["severity"]) == (1, "error")
    assert [told["evidence"]["file"].rpartition("/")[2], told["evidence"]["line"]] == place


@pytest.mark.parametrize("change", [lambda data: b"\xef\xbb\xbf" + data, lambda data: data.replace(b"\n", b"\r\n")])
def test_byte_order_mark_and_windows_line_ends_are_read(change, patient, doctor):
    path = patient.folder / "requirements.txt"
    path.write_bytes(change(path.read_bytes()))
    patient.add("einops-0.8.1.dist-info/METADATA", "Metadata-Version: 2.1\nName: einops\nVersion: 0.8.1\n")
    answer = doctor.check(patient.prefix)
    assert answer.report["target"]["lock"] == str(path)
    assert ("packages/foreign", "einops") in answer.said("warning")
    assert not answer.findings("packages/missing")


def test_without_a_lock_the_rest_is_judged_and_the_reason_given(patient, doctor):
    (patient.folder / "requirements.txt").unlink()
    patient.delete("transformers/models.py")
    answer = doctor.check(patient.prefix)
    assert answer.status == 1
    assert answer.said("error") == {("packages/missing-file", "transformers")}
    reasons = {item["probe"]: item["reason"] for item in answer.report["skipped"]}
    assert reasons["packages/foreign"].startswith("no lock")


def test_locks_that_were_not_chosen_are_mentioned(patient, doctor):
    patient.lock([Wheel("numpy", "2.3.5")], "pylock.toml")
    answer = doctor("check", "--target", patient.prefix)
    assert f"judged by {patient.folder}/pylock.toml (also there, not used: requirements.txt)" in answer.stdout
