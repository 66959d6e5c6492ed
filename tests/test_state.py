"""What is remembered between runs: raised, reached, accepted, expired; and what becomes of a damaged file."""

import os
import sqlite3
import subprocess
import sys
from dataclasses import replace

import pytest

from envdoctor.state import marks as state
from envdoctor.state.marks import Key, Mark, StateError, path_of, read, record

NOW = 1_780_000_000.0
DAY = 86_400.0
KEY = Key("node7", "1000", "/env", "2.11.0+cu130", "3.6.0", "9.0")


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "state" / "envdoctor" / "node7.sqlite")


def mark(keys, kind="fxgraph", device="", **fields):
    return Mark(kind, device, keys, fields.pop("size", 1000 * keys), "/cache", NOW, fields.pop("reached_at", NOW))


def kept(path, now=NOW, key=KEY):
    return {(found.kind, found.device): found.keys for found in read(path, key, now)}


def test_marks_are_raised_and_never_lowered(path):
    assert read(path, KEY, NOW) == ()
    record(path, KEY, [mark(412), mark(206, device="cuda:0")], NOW)
    record(path, KEY, [mark(6), mark(300, device="cuda:0"), mark(5, "triton")], NOW + DAY)
    assert kept(path) == {("fxgraph", ""): 412, ("fxgraph", "cuda:0"): 300, ("triton", ""): 5}
    assert [found.set_at for found in read(path, KEY, NOW)] == [NOW, NOW + DAY, NOW + DAY]


def test_a_mark_that_is_reached_again_lives_on_and_one_that_is_not_expires(path):
    record(path, KEY, [mark(412), mark(9, "triton")], NOW)
    record(path, KEY, [mark(412), mark(8, "triton")], NOW + 20 * DAY)
    assert kept(path, NOW + 29 * DAY) == {("fxgraph", ""): 412, ("triton", ""): 9}
    assert kept(path, NOW + 31 * DAY) == {("fxgraph", ""): 412}
    record(path, KEY, [mark(8, "triton")], NOW + 31 * DAY)
    assert kept(path, NOW + 31 * DAY) == {("fxgraph", ""): 412, ("triton", ""): 8}


def test_to_accept_makes_the_present_counts_the_marks_of_this_key_alone(path):
    other = replace(KEY, torch="2.12.0")
    for key in (KEY, other):
        record(path, key, [mark(412), mark(9, "triton")], NOW)
    record(path, KEY, [mark(6)], NOW, accept=True)
    assert kept(path) == {("fxgraph", ""): 6}
    assert kept(path, key=other) == {("fxgraph", ""): 412, ("triton", ""): 9}


@pytest.mark.parametrize("field", ["host", "user", "target", "torch", "triton", "arch"])
def test_each_part_of_the_key_counts(path, field):
    record(path, KEY, [mark(412)], NOW)
    assert kept(path, key=replace(KEY, **{field: "other"})) == {}


def test_a_path_that_is_no_utf_8_is_remembered(path):
    key = replace(KEY, target="/env/\udcff")
    record(path, key, [replace(mark(412), path="/c/\udcfe")], NOW)
    assert kept(path, key=key) == {("fxgraph", ""): 412}


@pytest.mark.parametrize("content", [b"no database", b"SQLite format 3\0" + bytes(84), b"x" * 8192])
def test_a_damaged_file_is_said_and_set_aside_by_who_writes(path, content):
    os.makedirs(os.path.dirname(path))
    with open(path, "wb") as stream:
        stream.write(content)
    with pytest.raises(StateError):
        read(path, KEY, NOW)
    with open(path, "rb") as stream:
        assert stream.read() == content, "reading changes nothing"
    said = record(path, KEY, [mark(412)], NOW)
    assert f"{path} was damaged" in said
    assert kept(path) == {("fxgraph", ""): 412}
    with open(f"{path}.damaged-{int(NOW)}", "rb") as stream:
        assert stream.read() == content


def test_an_empty_file_is_as_good_as_none(path):
    os.makedirs(os.path.dirname(path))
    with open(path, "wb"):
        pass
    assert record(path, KEY, [mark(412)], NOW) is None
    assert kept(path) == {("fxgraph", ""): 412}


def test_a_file_of_a_later_schema_is_left_alone(path):
    record(path, KEY, [mark(412)], NOW)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    for call in (lambda: read(path, KEY, NOW), lambda: record(path, KEY, [mark(500)], NOW)):
        with pytest.raises(StateError, match="schema 99, and this envdoctor knows 1"):
            call()


def test_where_no_directory_can_be_made_it_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match=r"file"):
        record(str(tmp_path / "file" / "x" / "n.sqlite"), KEY, [mark(1)], NOW)


@pytest.mark.parametrize("kind", ["directory", "fifo"])
def test_something_else_in_its_place_never_hangs(path, kind):
    os.makedirs(os.path.dirname(path))
    os.mkfifo(path) if kind == "fifo" else os.mkdir(path)
    with pytest.raises(StateError, match="not a regular file"):
        read(path, KEY, NOW)


def test_another_run_s_transaction_is_waited_for_and_not_for_ever(path, monkeypatch):
    monkeypatch.setattr(state, "PATIENCE", 0.1)
    record(path, KEY, [mark(412)], NOW)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StateError, match="locked"):
        record(path, KEY, [mark(500)], NOW)
    connection.execute("ROLLBACK")
    connection.close()
    record(path, KEY, [mark(500)], NOW)
    assert kept(path) == {("fxgraph", ""): 500}


@pytest.mark.whole  # takes seconds
def test_runs_at_once_lose_nothing(path):
    code = """if True:
        import sys
        from envdoctor.state.marks import Key, Mark, record
        number = int(sys.argv[2])
        key = Key("node7", "1000", "/env", "2.11.0+cu130", "3.6.0", "9.0")
        for keys in range(1, 21):
            counts = {f"cuda:{number}": keys, "": number * 100 + keys}
            marks = [Mark("fxgraph", device, count, 1, "/c", 1.78e9, 1.78e9) for device, count in counts.items()]
            record(sys.argv[1], key, marks, 1.78e9)
    """
    runs = [subprocess.Popen([sys.executable, "-c", code, path, str(number)]) for number in range(4)]
    assert [run.wait(timeout=60) for run in runs] == [0, 0, 0, 0]
    assert kept(path) == {("fxgraph", ""): 320} | {("fxgraph", f"cuda:{number}"): 20 for number in range(4)}


@pytest.mark.parametrize(
    ("env", "path"),
    [
        ({}, "/home/me/.local/state/envdoctor/node7.sqlite"),
        ({"XDG_STATE_HOME": "/s"}, "/s/envdoctor/node7.sqlite"),
        ({"XDG_STATE_HOME": "relative"}, "/home/me/.local/state/envdoctor/node7.sqlite"),
    ],
    ids=str,
)
def test_each_host_has_a_file_of_its_own_below_xdg_state(env, path):
    assert path_of(env, "/home/me", "node7") == path


def test_a_host_s_name_is_no_path():
    assert path_of({}, "/h", "../../etc/x") == "/h/.local/state/envdoctor/.._.._etc_x.sqlite"
