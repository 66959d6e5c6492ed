"""Files are hashed in batches, all of them, and how far it is is told."""

import time

import pytest
from installs import work

from envdoctor.errors import StepError
from envdoctor.installing import hashed

GOOD = "sha256=LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ"  # of b"hello"
BAD = GOOD.replace("L", "M", 1)


@pytest.fixture
def jobs(tmp_path):
    paths = [tmp_path / f"file{number}" for number in range(7)]
    for path in paths:
        path.write_bytes(b"hello")
    return [(str(path), BAD if number == 3 else GOOD, 5) for number, path in enumerate(paths)]


@pytest.mark.parametrize("batch", [1, 12, 1 << 20])
def test_fault_has_its_jobs_number_whatever_the_batch(batch, jobs, monkeypatch):
    monkeypatch.setattr(hashed, "BATCH", batch)
    said = []
    found = hashed.compare(jobs, cores=2, ends=time.monotonic() + 60, work=work(tell=said.append))
    assert {number: fault.state for number, fault in found.items()} == {3: "content"}
    assert [(item.done, item.total) for item in said[-1:]] == [(35, 35)]
    assert len(said) == {1: 8, 12: 5}.get(batch, 2)


def test_large_files_go_together_and_first(jobs, monkeypatch):
    sizes = [("a", GOOD, 5), ("b", GOOD, 50), ("c", GOOD, 60), ("d", GOOD, 5)]
    monkeypatch.setattr(hashed, "BATCH", 10)
    monkeypatch.setattr(hashed, "LARGE", 40)
    assert list(hashed._batches(sizes)) == [[2, 1], [0, 3]]


def test_nothing_to_hash_is_no_fault():
    assert hashed.compare([], cores=2, ends=0, work=work()) == {}


def test_time_that_is_over_is_an_error(jobs):
    with pytest.raises(StepError, match="verify: the time was over after 0 bytes of 35 bytes"):
        hashed.compare(jobs, cores=2, ends=time.monotonic() - 1, work=work())
