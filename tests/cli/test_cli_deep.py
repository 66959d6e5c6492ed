"""`check --deep`, by processes: every altered byte and nothing else, whatever was remembered."""

import os
import random
import re
import signal
import time
from pathlib import Path

import pytest
from patients import Patient, Wheel

MUTATIONS = 1000
FILES = 40
"""Of one distribution: fewer than the paths that a finding names."""


@pytest.fixture
def large(tmp_path):
    """Forty distributions of forty modules, installed long ago."""
    patient = Patient(tmp_path / "large")
    chance = random.Random(1)  # noqa: S311
    for number in range(40):
        sizes = (chance.randint(1, 3000) for _ in range(FILES))
        files = {f"p{number}/m{n}.py": chance.randbytes(size) for n, size in enumerate(sizes)}
        patient.install(Wheel(f"p{number}", "1", files), compiled=False)
    return patient


def deep(doctor, patient, *options, **more):
    return doctor.check(patient.prefix, "--deep", "--select", "packages", *options, **more)


def paths(answer):
    return {path for found in answer.findings("packages/altered-file") for path in found["evidence"]["paths"]}


def mutate(path, chance):
    """Change one byte of a file; size and mtime stay as they were."""
    status, data = path.stat(), bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= chance.randint(1, 255)
    path.write_bytes(data)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize("remembered", [False, True])
def test_a_thousand_altered_bytes_are_found_and_nothing_else(remembered, large, doctor):
    chance = random.Random(remembered)  # noqa: S311
    if remembered:
        time.sleep(2.1)  # what is younger is not remembered
        assert deep(doctor, large).status == 0
        assert deep(doctor, large).report["seen"]["hashed"].startswith("0 files hashed")
    modules = sorted(large.site.glob("p*/m*.py"))
    chosen = chance.sample(modules, MUTATIONS)
    for path in chosen:
        mutate(path, chance)
    expected = {str(path.relative_to(large.site)) for path in chosen}
    plain = doctor.check(large.prefix, "--select", "packages/altered-file")
    assert paths(plain) == set(), "a plain check does not see them"
    for _ in range(2):
        answer = deep(doctor, large)
        assert answer.status == 1
        assert paths(answer) == expected
        assert {found["probe"] for found in answer.report["findings"]} == {"packages/altered-file"}


def sparse(patient, size):
    """Give a package a file of many zeros, which takes long to hash and no place on disk."""
    info = patient.install(Wheel("weights", "1", {"weights/__init__.py": ""}))
    with open(patient.site / "weights/big.bin", "wb") as stream:
        stream.truncate(size)
    os.utime(patient.site / "weights/big.bin", (0, 0))
    record = info / "RECORD"
    record.write_text(record.read_text() + f"weights/big.bin,sha256={'A' * 43},{size}\n")


def test_a_deadline_ends_it_and_what_was_not_reached_is_said(patient, doctor):
    sparse(patient, 1 << 40)
    began = time.monotonic()
    answer = deep(doctor, patient, "--deadline", "2")
    assert time.monotonic() - began < 8
    assert answer.status == 3
    assert [found["fact"] for found in answer.report["failed"]] == ["files"]
    assert re.search(
        r"1 of \d+ files were not hashed within 1\.\d s; give it more with --deadline",
        answer.report["failed"][0]["reason"],
    )
    assert answer.report["verdict"] == "warnings"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_one_that_is_killed_leaves_nothing_that_hurts_the_next(number, patient, doctor):
    sparse(patient, 1 << 40)
    process = doctor.start("check", "--deep", "--target", patient.prefix)
    time.sleep(1.5)
    process.send_signal(number)
    process.communicate(timeout=20)
    patient.uninstall(Wheel("weights", "1"))
    assert deep(doctor, patient).status == 0
    ours = [each for each in Path("/proc").glob("[0-9]*/cmdline") if str(patient.prefix).encode() in read(each)]
    assert ours == []


def read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_without_state_nothing_is_remembered(patient, doctor):
    assert deep(doctor, patient, "--no-state").status == 0
    assert not (doctor.home / ".cache").exists()


def test_it_is_said_in_the_report_for_people(patient, doctor):
    answer = doctor("check", "--deep", "--target", patient.prefix)
    assert "files hashed, " in answer.stdout


def test_a_snapshot_can_be_deep(patient, doctor):
    patient.edit("transformers/__init__.py", keep_size=True, keep_time=True)
    assert doctor("snapshot", "--deep", "-o", "s.json", "--target", patient.prefix).status == 0
    answer = doctor("check", "--snapshot", "s.json", "--select", "packages/altered-file", "--format", "json")
    assert paths(answer) == {"transformers/__init__.py"}
    assert "files hashed" in answer.report["seen"]["hashed"]
