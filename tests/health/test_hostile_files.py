"""Files that a user has laid out for root to stumble over: one round over all of them."""

import json
import os
from functools import partial

import pytest
from nobody import NOBODY
from nodes import SIX, found, give, made

pytestmark = pytest.mark.whole
LONG = 9
"""Seconds; a fact that waits for what never comes is given up after ten."""

RECORDED = f"{SIX.stem}.dist-info"
TOGETHER = (
    *(f"{RECORDED}/{name}" for name in ("RECORD", "METADATA", "WHEEL", "INSTALLER", "direct_url.json")),
    *("evil.pth", "torch/version.py", "../../../.envdoctor/seal.json", "../../../bin/pip"),
)
"""What a look reads, and goes on if it cannot; relative to site-packages."""
APART = {
    "lock": "../../../../requirements.txt",
    "policy": "../../../../envdoctor.toml",
    "pyvenv": "../../../pyvenv.cfg",
}
"""What it cannot do without, by a word for it."""
HOLE = 10 << 30
"""Bytes that a file seems to hold."""
ODD = "six\x1b]0;owned\x07\n[ERROR] root: all is well\u202e"


def put(patient, file):
    """Make room for a file that is not one; return its path."""
    path = patient.site / file
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    return path


def hole(path):
    """Make a file that seems to hold gigabytes."""
    with open(path, "wb") as stream:
        stream.truncate(HOLE)


@pytest.fixture(scope="module")
def looks():
    """Build every illness, and visit them all in one round."""
    for node in made():
        makers = {"link": partial(os.symlink, node.secret), "pipe": os.mkfifo, "hole": hole}
        for kind, make in makers.items():
            patient = node.patient(kind)
            for file in TOGETHER:
                make(put(patient, file))
            for name, file in APART.items():
                make(put(node.patient(f"{kind}-{name}"), file))
        odd = node.patient("odd")
        (odd.site / f"{ODD}.pth").write_text("/nowhere\n")
        (odd.site / f"{ODD}-1.dist-info").mkdir()
        (odd.site / f"{ODD}-1.dist-info" / "METADATA").write_text(f"Name: {ODD}\nVersion: 1\n")
        crowd = node.patient("crowd")
        for number in range(2_000):
            (crowd.site / f"x{number}.py").touch()
        node.patient("healthy")
        give(node.folder / f"user{NOBODY}")
        node.doctor.within = 150
        yield node.looks("--deadline", "120")


@pytest.mark.parametrize("kind", ["link", "pipe", "hole"])
def test_files_that_are_none_of_the_users_are_said_and_not_waited_for(looks, kind):
    """The node itself sees to it that nothing of root's is in what was said."""
    look = looks[kind]
    assert max(look["fact_seconds"].values()) < LONG
    assert {"packages/missing-record", "packages/broken-metadata"} <= {probe for probe, _ in found(look)}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("link-lock", "cannot be read: Permission denied"),
        ("link-policy", "envdoctor.toml: Permission denied"),
        ("link-pyvenv", "pyvenv.cfg: Permission denied"),
        ("pipe-lock", "is a FIFO, not a lock file"),
        ("pipe-pyvenv", "pyvenv.cfg is not a regular file"),
        ("hole-lock", "larger than 32 MiB"),
        ("hole-policy", "more than any should"),
    ],
)
def test_without_what_is_needed_it_is_not_judged_and_that_is_said(looks, name, said):
    look = looks[name]
    assert max(look["fact_seconds"].values(), default=0) < LONG
    assert look["status"] == 3
    assert said in look["reason"] + json.dumps(look["report"] and look["report"]["failed"])


def test_a_policy_that_is_no_file_is_none(looks):
    assert looks["pipe-policy"]["report"]["config"] is None


def test_names_cannot_write_to_the_terminal(looks):
    said = json.dumps(looks["odd"], ensure_ascii=False)
    assert [char for char in said if not char.isprintable()] == []
    assert "owned" in said


def test_a_crowded_directory_is_read(looks):
    assert looks["crowd"]["report"]["failed"] == []


def test_beside_all_of_them_a_healthy_one_is_healthy(looks):
    report = looks["healthy"]["report"]
    assert {finding["severity"] for finding in report["findings"]} <= {"note", "warning"}
    assert report["failed"] == report["crashed"] == []
    assert report["seen"]["packages"] == 2
