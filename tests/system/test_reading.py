"""A file is read in blocks up to where it ended when it was opened."""

import os

import pytest

from envdoctor.system.reading import blocks


def test_a_file_comes_in_blocks(tmp_path):
    path = tmp_path / "train.log"
    path.write_bytes(b"0123456789")
    assert list(blocks(str(path), 4)) == [b"0123", b"4567", b"89"]


def test_what_a_running_job_writes_on_is_left_out(tmp_path):
    path = tmp_path / "train.log"
    path.write_bytes(b"0123")
    found = blocks(str(path), 2)
    assert next(found) == b"01"
    with path.open("ab") as stream:
        stream.write(b"45")
    assert list(found) == [b"23"]


def test_a_file_that_is_cut_meanwhile_ends(tmp_path):
    path = tmp_path / "train.log"
    path.write_bytes(b"0" * (1 << 20))
    found = blocks(str(path), 1)
    next(found)
    os.truncate(path, 0)
    assert len(list(found)) < 1 << 20


def test_a_fifo_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is not a regular file"):
        list(blocks(str(tmp_path / "pipe")))
