"""The locks that this repository brings, against the files that they were made of."""

import hashlib
from pathlib import Path

import pytest

from envdoctor import locks
from envdoctor.locks import header

FOLDER = Path(__file__).parents[2] / "lockfiles"
OURS = sorted(FOLDER.glob("*.txt"))


def test_they_are_there():
    assert [path.name for path in OURS] == ["train-cpu.txt", "train-cu130.txt"]


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_every_pin_has_its_hashes_and_the_input_is_the_one_it_was_made_of(path):
    lock, about = locks.read(str(path)), header.parse(path.read_text())
    assert (lock.problems, lock.indexes) == ((), ())
    assert {"pip", "setuptools"} <= {package.name for package in lock.packages}
    assert all(package.hashes for package in lock.packages)
    for source in about.sources:
        assert hashlib.sha256((FOLDER / source.path).read_bytes()).hexdigest() == source.sha256


def test_no_index_is_named_in_any_file():
    for path in FOLDER.iterdir():
        assert "://" not in path.read_text().replace("https://index.example/", "")
