"""The fact of the lock."""

import os

import pytest
from patients import Patient, Wheel

from envdoctor.errors import LockError
from envdoctor.facts import lock
from envdoctor.model import Target, Unavailable


def collect(path, **choice):
    return lock.collect(Target("/env", "/env/bin/python", lock=path and str(path), **choice), None)


def test_no_lock_is_no_failure():
    assert collect(None) == Unavailable("no lock: none was named and none lies beside the target")


@pytest.mark.parametrize("name", ["requirements.txt", "pylock.toml"])
def test_a_lock_is_read(name, tmp_path):
    path = Patient(tmp_path).lock([Wheel("torch", "2.11.0+cu128")], name)
    found = collect(path)
    assert ([(item.name, item.version) for item in found.packages], found.path) == ([("torch", "2.11.0+cu128")], path)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (os.mkfifo, "is a FIFO, not a lock file"),
        (os.mkdir, "is a directory, not a lock file"),
        (lambda path: path.symlink_to(path), "cannot be read"),
        (str, "no such file"),
        (lambda path: path.write_bytes(b"\0\xff"), "requirements.txt"),
    ],
    ids=["fifo", "directory", "loop", "gone", "garbage"],
)
def test_what_is_no_lock_is_one_line(make, problem, tmp_path):
    make(tmp_path / "requirements.txt")
    with pytest.raises(LockError, match=problem) as caught:
        collect(tmp_path / "requirements.txt")
    assert "\n" not in str(caught.value)


def test_a_group_that_the_lock_has_not_is_an_error(tmp_path):
    path = Patient(tmp_path).lock([Wheel("a", "1")], "pylock.toml")
    with pytest.raises(LockError, match="nonsense"):
        collect(path, groups=("nonsense",))
