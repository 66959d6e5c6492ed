"""Files of gigabytes that cost nothing to make: read in little memory or refused, and in both cases said."""

import re
import resource
import sys
from pathlib import Path

import pytest
from patients import Patient, Wheel, findings

from envdoctor.errors import UsageError

SIZE = 3 << 30
"""Bytes, all of them a hole in the file."""
ROOM = 1 << 30
"""Bytes of address space that the doctor may take beyond what this process has."""
TORCH = Wheel("torch", "2.11.0", {"torch/__init__.py": "", "torch/version.py": "__version__ = '2.11.0'\n"})
SIX = Wheel("six", "1.17.0", {"six.py": ""})


@pytest.fixture
def patient(tmp_path):
    patient = Patient(tmp_path)
    patient.install(TORCH, requested=True)
    patient.install(SIX, requested=True)
    return patient


@pytest.fixture
def little_memory():
    """Bound the memory of this process and its children: what reads such a file whole fails."""
    kibibytes = re.search(r"VmSize:\s*(\d+)", Path("/proc/self/status").read_text())[1]
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (int(kibibytes) * 1024 + ROOM, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def swell(path):
    """Let a file grow at its end; what it says at its beginning stays."""
    with open(path, "ab") as stream:
        stream.truncate(SIZE)


def said(patient, probe):
    return {finding.subject: finding.message for finding in findings(patient.check(), probe)}


def test_a_record_is_refused_and_the_others_are_read(little_memory, patient):
    swell(patient.info(SIX) / "RECORD")
    patient.edit("torch/__init__.py")
    assert "3,221,225,472 bytes" in said(patient, "packages/missing-record")["six"]
    assert list(said(patient, "packages/altered-file")) == ["torch"]


def test_what_lies_beside_it_is_read_to_a_limit(little_memory, patient):
    for name in ("METADATA", "WHEEL", "INSTALLER", "direct_url.json", "entry_points.txt"):
        (patient.info(SIX) / name).touch()
        swell(patient.info(SIX) / name)
    swell(patient.site / "torch/version.py")
    swell(patient.add("a.pth", "torch\n"))
    swell(patient.bin / "pip")
    swell(patient.prefix / "pyvenv.cfg")
    report = patient.check()
    assert ("packages/altered-file", "torch") in findings(report)
    assert ("packages/altered-file", "six") in findings(report)
    assert report.failed == {}


def test_a_file_with_two_owners_is_not_hashed_for_minutes(little_memory, patient):
    for name in ("one", "two"):
        patient.install(Wheel(name, "1", {"libx.so": name}))
        record = patient.info(Wheel(name, "1")) / "RECORD"
        record.write_text(re.sub(r"(libx\.so,[^,]*),\d+", rf"\1,{SIZE}", record.read_text()))
    swell(patient.site / "libx.so")
    (message,) = said(patient, "packages/file-collision").values()
    assert message.endswith("too large to tell in a plain check whose bytes are on disk")


def test_a_stat_index_counts_as_lost(little_memory, patient):
    patient.seal()
    (index,) = (patient.prefix / ".envdoctor").glob("index-*")
    swell(index)
    assert said(patient, "packages/altered-file") == {
        "stat index": "the stat index of the seal is gone or damaged: edits that keep a file's size and time go unseen"
    }


def test_a_seal_is_the_doctors_failure(little_memory, patient):
    swell(patient.seal().path)
    report = patient.check()
    assert (report.status(), list(report.failed)) == (3, ["seal"])
    assert "3,221,225,472 bytes" in report.failed["seal"]


@pytest.mark.parametrize("name", ["envdoctor.toml", "pyproject.toml", "requirements.txt", "pylock.toml", "uv.lock"])
def test_a_configuration_or_lock_is_a_usage_error(name, little_memory, patient):
    path = patient.folder / name
    path.write_text("six==1.17.0 --hash=sha256:" + "a" * 64 + "\n" if name.endswith("txt") else "")
    swell(path)
    with pytest.raises(UsageError, match=rf"{re.escape(name)}: .*(3,221,225,472 bytes|MiB)"):
        patient.check()


def test_a_tree_deeper_than_python_recurses_can_be_sealed(patient):
    folders = [patient.site / "torch"]
    while len(folders) < sys.getrecursionlimit() + 50:
        folders.append(folders[-1] / "d")
    try:
        for folder in folders[1:]:
            folder.mkdir()
        assert patient.seal().path
        assert patient.check().verdict == "healthy"
    finally:  # pytest would recurse over it, years later
        for folder in reversed(folders[1:]):
            folder.rmdir()
