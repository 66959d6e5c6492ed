"""Seals: written whole, read back, and never trusted to be what they should be."""

import json
import os
import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdoctor import seals
from envdoctor.codec import to_json
from envdoctor.errors import EnvDoctorError
from envdoctor.seals import Seal, SealedDistribution, parse

SEAL = Seal(
    taken_at="2026-06-03T14:22:00Z",
    envdoctor="0.1.0",
    host="node7",
    python_version="3.12.3",
    python_path="/usr/bin/python3.12",
    distributions=(SealedDistribution("torch", "2.11.0", "ab", ("py3-none-any",), editable=True),),
    variables={"PYTHONPATH": "/x\udce9"},
    index_name="index-1.jsonl",
    lock_name="lock-train.txt",
    lock_origin="/no/such/train.txt",
)


@pytest.fixture
def prefix(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "env").mkdir()
    return tmp_path / "env"


def write(prefix, seal=SEAL, index=("head", "line"), lock=b"torch==2.11.0\n"):
    return seals.write(str(prefix), seal, index, lock)


def test_a_seal_comes_back_as_it_was(prefix):
    assert write(prefix) == f"{prefix}/.envdoctor/seal.json"
    assert seals.read(str(prefix)) == SEAL
    assert seals.read_index(str(prefix), SEAL) == [b"head\n", b"line"]
    assert seals.read_index(str(prefix), SEAL, first=True) == [b"head\n"]
    assert (prefix / ".envdoctor/lock-train.txt").read_bytes() == b"torch==2.11.0\n"


def test_no_seal_is_none(prefix):
    assert (seals.read(str(prefix)), seals.recorded_lock(str(prefix)), seals.read_index(str(prefix), SEAL)) == (
        None,
        None,
        [],
    )


def test_a_new_seal_sweeps_away_what_belonged_to_the_old_one(prefix):
    write(prefix)
    (prefix / ".envdoctor/mine.txt").touch()
    write(prefix, replace(SEAL, index_name="index-2.jsonl", lock_name=None), lock=None)
    assert sorted(os.listdir(prefix / ".envdoctor")) == ["index-2.jsonl", "mine.txt", "seal.json"]


def test_a_new_seal_sweeps_what_killed_ones_left_and_nothing_else(prefix):
    write(prefix)
    for name in (".seal.json.x1", ".index-0.jsonl.x2", ".lock-old.txt.x3", "index-old.jsonl", "lock-old.txt", ".index"):
        (prefix / ".envdoctor" / name).touch()
    write(prefix)
    assert {path.name for path in (prefix / ".envdoctor").iterdir()} == {
        *("seal.json", "index-1.jsonl", "lock-train.txt"),
        *("index-old.jsonl", "lock-old.txt", ".index"),
    }


@pytest.mark.parametrize("former", ["sound", "damaged", "of names elsewhere"])
def test_what_a_former_seal_names_is_removed_only_beside_it(former, prefix, tmp_path):
    (tmp_path / "precious").touch()
    write(prefix)
    evil = replace(SEAL, index_name="../../precious", lock_name=str(tmp_path / "precious"))
    text = {
        "sound": None,
        "damaged": '{"index_name": "../../precious"}',
        "of names elsewhere": json.dumps(to_json(evil)),
    }
    if text[former]:
        (prefix / ".envdoctor/seal.json").write_text(text[former])
    write(prefix, replace(SEAL, index_name="index-2.jsonl"))
    assert (tmp_path / "precious").exists()
    assert (prefix / ".envdoctor/index-1.jsonl").exists() == (former != "sound")


def test_a_link_in_the_folders_place_is_not_followed(prefix, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    names = ("index-1.jsonl", ".index-1.jsonl.x", "lock-train.txt", ".seal.json.x")
    for name in names:
        (theirs / name).write_text("theirs")
    (prefix / ".envdoctor").symlink_to(theirs)
    path = write(prefix)
    assert path.startswith(str(tmp_path / "state/envdoctor/seals/"))
    assert {path.name: path.read_text() for path in theirs.iterdir()} == dict.fromkeys(names, "theirs")
    assert seals.read(str(prefix)) == SEAL


def test_a_link_and_no_state_is_a_refusal(prefix, tmp_path):
    (tmp_path / "theirs").mkdir()
    (prefix / ".envdoctor").symlink_to(tmp_path / "theirs")
    (tmp_path / "state").touch()
    with pytest.raises(EnvDoctorError, match=r"env/\.envdoctor: no place for a seal: "):
        write(prefix)
    assert os.listdir(tmp_path / "theirs") == []


def test_two_seals_at_once_wait_for_each_other(prefix):
    write(prefix)
    second = threading.Thread(target=write, args=(prefix, replace(SEAL, host="second", index_name="index-2.jsonl")))
    with seals._locked(str(prefix / ".envdoctor")):
        second.start()
        second.join(0.1)
        assert second.is_alive()
        assert seals.read(str(prefix)).host == "node7"
    second.join(10)
    assert seals.read(str(prefix)).host == "second"
    assert len(seals.read_index(str(prefix), seals.read(str(prefix)))) == 2


@pytest.mark.parametrize("value", ["state", "./state", "", "~/state"])
def test_a_state_home_that_is_not_absolute_is_ignored(value, monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    place = seals.folders("/env", {"XDG_STATE_HOME": value})[1]
    assert place.startswith("/home/me/.local/state/envdoctor/seals/")


def test_where_the_prefix_cannot_be_written_the_seal_is_in_the_state(prefix, tmp_path):
    (prefix / ".envdoctor").write_text("in the way")
    path = write(prefix)
    assert path.startswith(str(tmp_path / "state/envdoctor/seals/"))
    assert (seals.read(str(prefix)), len(seals.read_index(str(prefix), SEAL))) == (SEAL, 2)


def test_of_two_seals_the_younger_counts(prefix, tmp_path):
    (prefix / ".envdoctor").write_text("in the way")
    younger = write(prefix, replace(SEAL, host="younger"))
    (prefix / ".envdoctor").unlink()
    os.utime(write(prefix, replace(SEAL, host="older")), (0, 0))
    assert seals.read(str(prefix)).host == "younger"
    os.utime(younger, (-1, -1))
    assert seals.read(str(prefix)).host == "older"


def test_every_environment_has_its_own_place_in_the_state(prefix, tmp_path):
    (tmp_path / "link").symlink_to(prefix)
    places = [seals.folders(str(path), {"XDG_STATE_HOME": "/s"})[1] for path in (prefix, tmp_path / "link", tmp_path)]
    assert places[0] == places[1] != places[2]


def test_nowhere_to_write_names_the_first_place(prefix, tmp_path):
    (prefix / ".envdoctor").write_text("")
    (tmp_path / "state").write_text("")
    with pytest.raises(EnvDoctorError, match=r"env/\.envdoctor: no place for a seal: File exists$"):
        write(prefix)


def test_a_write_that_fails_leaves_the_old_seal(prefix, monkeypatch, tmp_path):
    write(prefix)
    (tmp_path / "state").write_text("")
    real = seals.write_atomically

    def fail(path, write_to, **options):
        if path.endswith("seal.json"):
            raise EnvDoctorError("No space left on device")
        real(path, write_to, **options)

    monkeypatch.setattr(seals, "write_atomically", fail)
    with pytest.raises(EnvDoctorError, match="No space"):
        write(prefix, replace(SEAL, host="other", index_name="index-2.jsonl"))
    assert seals.read(str(prefix)) == SEAL
    assert len(seals.read_index(str(prefix), SEAL)) == 2


@pytest.mark.parametrize(("origin_there", "copy_there"), [(True, True), (False, True), (False, False)])
def test_the_recorded_lock_is_the_origin_else_the_copy(origin_there, copy_there, prefix, tmp_path):
    origin = tmp_path / "train.txt"
    if origin_there:
        origin.touch()
    write(prefix, replace(SEAL, lock_origin=str(origin)))
    copy = prefix / ".envdoctor/lock-train.txt"
    if not copy_there:
        copy.unlink()
    assert seals.recorded_lock(str(prefix)) == (str(origin) if origin_there else str(copy) if copy_there else None)


def test_a_seal_cannot_lead_elsewhere(prefix, tmp_path):
    (tmp_path / "elsewhere").write_text("secret")
    evil = replace(SEAL, index_name=str(tmp_path / "elsewhere"), lock_name="../../elsewhere")
    write(prefix)
    (prefix / ".envdoctor/seal.json").write_text(json.dumps(to_json(evil)))
    assert (seals.read_index(str(prefix), evil), seals.recorded_lock(str(prefix))) == ([], None)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "3", "null", "[" * 100_000, '{"schema": 1}', '{"schema": 1, "host": 3}']
)
def test_a_damaged_seal_is_one_line(content, prefix):
    write(prefix)
    (prefix / ".envdoctor/seal.json").write_text(content)
    with pytest.raises(EnvDoctorError, match=r"^[^\n]*seal\.json: [^\n]* again$"):
        seals.read(str(prefix))
    assert seals.recorded_lock(str(prefix)) is None


def test_a_seal_of_another_schema_is_said():
    with pytest.raises(EnvDoctorError, match="seal schema 2 is not 1; seal again"):
        parse('{"schema": 2}', "p")


def test_what_a_later_version_adds_is_ignored():
    assert parse(json.dumps({**to_json(SEAL), "more": 1}), "p") == SEAL


@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to(path)], ids=["fifo", "directory", "loop"]
)
def test_what_is_no_file_is_said_and_replaced(make, prefix):
    (prefix / ".envdoctor").mkdir()
    path = prefix / ".envdoctor/seal.json"
    make(path)
    with pytest.raises(EnvDoctorError, match=r"seal\.json"):
        seals.read(str(prefix))
    if make is not os.mkdir:
        write(prefix)
        assert seals.read(str(prefix)) == SEAL


@given(st.text())
def test_no_text_breaks_it(text):
    with pytest.raises(EnvDoctorError):
        parse(text, "p")
