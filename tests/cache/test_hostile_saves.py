"""Saves that somebody made or damaged on purpose: each is one line, and nothing is written anywhere."""

import json
import os
import random
import tarfile
from pathlib import Path

import pytest
from cached import ENTRIES, contents, described, handmade

from envdoctor.cache import packing, restoring, workflow
from envdoctor.cache.packing import zstd
from envdoctor.errors import DamagedSaveError, EnvDoctorError, UsageError

GOOD = {"ab/a.py": b"x = 1\n", "cd/b.py": b"y = 2\n"}
OUT = "../../escaped.py"


def special(name, kind, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def pax(name):
    info = tarfile.TarInfo(name)
    info.type, info.size = tarfile.XHDTYPE, 30
    return info


HOSTILE = {
    "escape": ({OUT: b"x"}, [(OUT, b"x")], "leads out of the cache"),
    "escape in the tar alone": (GOOD, [("ab/a.py", b"x = 1\n"), (OUT, b"y = 2\n")], "leads out of the cache"),
    "dots": ({"ab/../../../x.py": b"x"}, [("ab/../../../x.py", b"x")], "leads out of the cache"),
    "absolute": ({"/tmp/escaped.py": b"x"}, [("/tmp/escaped.py", b"x")], "is absolute"),
    "empty part": ({"ab//a.py": b"x"}, [("ab//a.py", b"x")], "is no file name"),
    "dot": ({"./a.py": b"x"}, [("./a.py", b"x")], "is no file name"),
    "NUL": ({"ab/a\0b.py": b"x"}, [], "is no file name"),
    "surrogate": ({"ab/\ud800.py": b"x"}, [], "is no file name"),
    "long": ({"ab/" + "a" * 256: b"x"}, [], "is no file name"),
    "twice in the manifest": (None, [], "twice"),
    "file and directory": ({"ab": b"x", "ab/a.py": b"y"}, [], "as a file and as a directory"),
    "symlink": (GOOD, [(special("ab/a.py", tarfile.SYMTYPE, "/etc/passwd"), b"")], "is a symbolic link"),
    "hardlink": (GOOD, [(special("ab/a.py", tarfile.LNKTYPE, "/etc/passwd"), b"")], "is a hard link"),
    "character device": (GOOD, [(special("ab/a.py", tarfile.CHRTYPE), b"")], "is a device"),
    "block device": (GOOD, [(special("ab/a.py", tarfile.BLKTYPE), b"")], "is a device"),
    "FIFO": (GOOD, [(special("ab/a.py", tarfile.FIFOTYPE), b"")], "is a FIFO"),
    "directory": (GOOD, [(special("ab", tarfile.DIRTYPE), b"")], "is a directory"),
    "sparse": (GOOD, [(special("ab/a.py", tarfile.GNUTYPE_SPARSE), b"")], "is no regular file"),
    "pax": (GOOD, [(pax("ab/a.py"), b"30 size=99999999999999999999\n\n")], "is no regular file"),
    "duplicate": (GOOD, [("ab/a.py", b"x = 1\n"), ("ab/a.py", b"x = 1\n")], "lies where 'cd/b.py'"),
    "unlisted": (GOOD, [*GOOD.items(), ("ef/c.py", b"z")], "holds more than its manifest lists"),
    "missing": (GOOD, [("ab/a.py", b"x = 1\n")], "ends before all"),
    "other bytes": (GOOD, [("ab/a.py", b"x = 9\n"), ("cd/b.py", b"y = 2\n")], "'ab/a.py' in it is not what was saved"),
    "bomb": (GOOD, [("ab/a.py", bytes(1 << 26)), ("cd/b.py", b"y = 2\n")], "with 67,108,864 bytes lies where"),
}


def made(name, path):
    entries, members, _ = HOSTILE[name]
    manifest = described(entries if entries is not None else GOOD)
    if name == "twice in the manifest":
        manifest["files"] *= 2
    members = [(member, data) for member, data in members if not isinstance(member, str) or "\0" not in member]
    return handmade(path, manifest, members)


@pytest.mark.parametrize("name", HOSTILE)
def test_it_is_refused_and_writes_nothing(name, shop, tmp_path):
    path = made(name, tmp_path / "evil.tar.zst")
    before, outside = contents(shop.cache), sorted(os.listdir(tmp_path))
    for act in (workflow.verify, lambda path: restoring.restore(path, shop.wish, shop.host(), force=True)):
        with pytest.raises(DamagedSaveError) as raised:
            act(path)
        assert raised.value.status == 1
        assert HOSTILE[name][2] in str(raised.value)
        assert str(raised.value).startswith(f"{path}: damaged, or not made by envdoctor: ")
    assert contents(shop.cache) == before
    assert sorted(os.listdir(tmp_path)) == outside
    assert not os.path.exists("/tmp/escaped.py")


def test_one_that_is_as_it_should_be_is_taken(shop, tmp_path):
    path = handmade(tmp_path / "good.tar.zst", described(GOOD), list(GOOD.items()))
    workflow.verify(path)
    done = restoring.restore(path, shop.wish, shop.host(), to=str(tmp_path / "new"), force=True)
    assert (done.added, contents(tmp_path / "new")) == (2, GOOD)


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        (b"", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "no JSON"),
        (b'{"schema": 1}', "no JSON"),
        (b"\xff", "no JSON"),
        (described(GOOD, schema=2), "has schema 2"),
        (described(GOOD, host=3), "says no host"),
        (described(GOOD, made=None), "what it was made for"),
        (described(GOOD, made={"torch": 2}), "what it was made for"),
        (described(GOOD, files=[3]), "no file"),
        (described(GOOD, files=[{"path": 3}]), "is no path"),
        (described(GOOD, files=[{"path": "a", "size": -1, "mode": 0, "sha256": "0" * 64}]), "size or mode"),
        (described(GOOD, files=[{"path": "a", "size": 1 << 60, "mode": 0, "sha256": "0" * 64}]), "size or mode"),
        (described(GOOD, files=[{"path": "a", "size": True, "mode": 0, "sha256": "0" * 64}]), "size or mode"),
        (described(GOOD, files=[{"path": "a", "size": 1, "mode": 0, "sha256": "x"}]), "without a sha256"),
    ],
)
def test_a_manifest_of_another_shape_is_one_line(manifest, said, tmp_path):
    path = handmade(tmp_path / "odd.tar.zst", manifest, [])
    with pytest.raises(DamagedSaveError, match=said):
        workflow.verify(path)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        b"\x28\xb5",
        b"PK\x03\x04" * 100,
        zstd.compress(b""),
        zstd.compress(bytes(1024)),
        zstd.compress(b"text" * 999),
    ],
)
def test_what_is_no_save_is_said_to_be_none_or_damaged(data, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(EnvDoctorError) as raised:
        workflow.verify(str(path))
    assert raised.value.status in (1, 2)
    assert "\n" not in str(raised.value)


def test_any_other_tar_is_no_save(tmp_path):
    (tmp_path / "a.txt").write_text("x")
    with zstd.open(tmp_path / "other.tar.zst", "wb") as stream, tarfile.open(fileobj=stream, mode="w|") as tar:
        tar.add(tmp_path / "a.txt", "a.txt")
    with pytest.raises(UsageError, match="is not a save of a compile cache"):
        workflow.verify(str(tmp_path / "other.tar.zst"))


def test_a_fifo_or_directory_is_no_save(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", tmp_path, tmp_path / "nothing"):
        with pytest.raises(UsageError, match=str(path)):
            workflow.verify(str(path))


def test_a_save_cut_off_anywhere_is_damaged(shop, tmp_path):
    whole = Path(shop.save().path).read_bytes()
    path = tmp_path / "cut.tar.zst"
    for size in range(4, len(whole), max(1, len(whole) // 150)):
        path.write_bytes(whole[:size])
        with pytest.raises(DamagedSaveError, match=r"is cut off|ends before|not what was written"):
            workflow.verify(str(path))


def test_a_flipped_bit_anywhere_is_found(shop, tmp_path):
    whole = Path(shop.save().path).read_bytes()
    path, places = tmp_path / "flipped.tar.zst", random.Random(5)  # noqa: S311
    manifest = workflow.verify(shop.save().path).manifest
    for place in {*range(12), *(places.randrange(len(whole)) for _ in range(300))}:
        flipped = bytearray(whole)
        flipped[place] ^= 1 << places.randrange(8)
        path.write_bytes(flipped)
        said = outcome(path)
        # the size of a window matters to nobody: all is still what was saved
        assert said in (1, manifest) or (place < 4 and said == 2)


def outcome(path):
    """Return the manifest of a save that is whole, else the exit status."""
    try:
        return workflow.verify(str(path)).manifest
    except EnvDoctorError as error:
        return error.status


@pytest.mark.parametrize("after", [b"x", b"\x28\xb5\x2f\xfd", zstd.compress(b"more"), bytes(100)])
def test_what_follows_the_end_is_found(after, tmp_path):
    path = handmade(tmp_path / "more.tar.zst", described(GOOD), list(GOOD.items()), after=after)
    with pytest.raises(DamagedSaveError):
        workflow.verify(path)


def test_a_huge_manifest_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "MANIFEST_LIMIT", 100)
    path = handmade(tmp_path / "huge.tar.zst", described(GOOD), [])
    with pytest.raises(DamagedSaveError, match="its manifest would take"):
        workflow.verify(path)


def test_more_than_there_is_room_for_is_refused_before_anything_is_written(shop, tmp_path):
    manifest = described(GOOD)
    for number in range(1000):
        manifest["files"].append({"path": f"x{number}", "size": 1 << 40, "mode": 0o600, "sha256": "0" * 64})
    path = handmade(tmp_path / "big.tar.zst", manifest, list(GOOD.items()))
    with pytest.raises(EnvDoctorError, match=r"the save takes 1000\.0 TiB, .* are free"):
        restoring.restore(path, shop.wish, shop.host(), force=True)
    assert contents(shop.cache) == ENTRIES


def test_paths_of_a_manifest_are_shown_safely(tmp_path):
    path = handmade(tmp_path / "esc.tar.zst", json.dumps(described({"/\x1b[2J": b"x"})).encode(), [])
    with pytest.raises(DamagedSaveError) as raised:
        workflow.verify(path)
    assert "\x1b" not in str(raised.value)
