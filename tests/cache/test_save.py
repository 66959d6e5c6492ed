"""What a save takes, leaves out and refuses, and when it writes nothing."""

import os
import tarfile
import threading
import time
from pathlib import Path

import pytest
from cached import ENTRIES, fill

from envdoctor.cache import saving, store, workflow
from envdoctor.cache.manifest import Kept, Manifest
from envdoctor.cache.packing import zstd
from envdoctor.errors import UsageError


def unpacked(path):
    """Read a save with the standard library's own tar."""
    with zstd.open(path) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
        return {info.name: tar.extractfile(info).read() for info in tar}


def test_all_entries_are_saved_with_what_they_were_made_for(shop):
    done = shop.save()
    assert done.written
    found = unpacked(done.path)
    assert next(iter(found)) == "envdoctor-cache.json"
    assert {name: data for name, data in found.items() if name != "envdoctor-cache.json"} == ENTRIES
    made = done.manifest.made
    assert (made.torch, made.torch_git, made.cuda, made.triton) == ("2.11.0+cu128", "abc1234", "12.8", "3.6.0")
    assert made.archs == ("cuda:90",)
    assert done.manifest.cache == str(shop.cache)
    assert store.read(done.path) == done.manifest
    workflow.verify(done.path)


def test_nobody_else_can_read_it(shop):
    path = Path(shop.save().path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert {
        folder.stat().st_mode & 0o777 for folder in path.parents if folder.is_relative_to(shop.folder / "data")
    } == {0o700}


def test_what_is_no_entry_is_left_out_and_said(shop):
    more = {
        "ab/.12.34.tmp": b"half",
        "triton/0/tmp.pid_12_ab/k.cubin": b"half",
        "locks/a.lock": b"",
        "precompiled_headers/x.gch": b"g" * 1000,
    }
    fill(shop.cache, more)
    (shop.cache / "ab/link.py").symlink_to("/etc/passwd")
    os.mkfifo(shop.cache / "ab/pipe.py")
    done = shop.save()
    assert {kept.path for kept in done.manifest.files} == set(ENTRIES)
    assert done.manifest.left_out == {
        "temporary files and locks of writers": 2,
        "locks": 1,
        "precompiled headers": 1,
        "links and other special files": 2,
    }


def test_an_equal_save_writes_nothing(shop):
    first = shop.save()
    again = shop.save()
    assert (again.written, again.path) == (False, first.path)
    assert os.listdir(os.path.dirname(first.path)) == [os.path.basename(first.path)]


def test_an_equal_save_of_settled_files_reads_none(shop, monkeypatch):
    monkeypatch.setattr(saving, "SETTLED_NS", -(10**9))
    shop.save()
    monkeypatch.setattr(saving, "descriptor", None)
    assert not shop.save().written


@pytest.mark.parametrize("content", [b"def call(): past\n", b"def call(): pass\n# more\n"])
def test_a_changed_file_is_saved_anew(shop, content):
    first = shop.save()
    (shop.cache / "ab/cab.py").write_bytes(content)
    again = shop.save()
    assert again.written
    assert again.path > first.path
    assert unpacked(again.path)["ab/cab.py"] == content


def test_times_do_not_tell_for_what_is_younger_than_a_clock_tick():
    kept = Kept("a", 1, 0o600, "0" * 64, (10**19, 10**19, 7))
    manifest = Manifest("", "", "", "", "", None, (kept,))
    tree = saving.Tree((saving.Seen("a", 1, 0o600, kept.stamp),), {})
    assert not saving.unchanged(tree, manifest, 10**19 + 10**9)
    assert saving.unchanged(tree, manifest, 10**19 + 3 * 10**9)


def test_another_torch_makes_another_save(shop):
    shop.save()
    shop.patient.edit("torch/version.py", b"__version__ = '2.12.0+cu128'\ncuda = '12.8'\n")
    assert shop.save().written


def test_keep_removes_the_older_ones_of_this_cache(shop):
    other = shop.save(cache=str(fill(shop.folder / "other", {"ab/x.py": b"1"})))
    for number in range(4):
        (shop.cache / "ab/cab.py").write_text(f"# {number}")
        done = shop.save(keep=2)
    left = store.paths(os.path.dirname(done.path))
    assert len(left) == 3
    assert {left[0], left[-1]} == {other.path, done.path}
    assert len(done.removed) == 1


@pytest.mark.parametrize("pause", [0.0, 0.3])
def test_a_file_that_is_being_written_is_left_out(shop, monkeypatch, pause):
    """A linker empties its output and fills it in place, with pauses: no half of it may ever be brought back."""
    monkeypatch.setattr(saving, "TRIES", 2)
    monkeypatch.setattr(saving, "REST", 0.5)
    path, stop = shop.cache / "cd/ccd.main.so", threading.Event()

    def link():
        while not stop.is_set():
            with path.open("wb") as stream:
                for _ in range(20):
                    stream.write(b"\x7fELF" * 1000)
                    stream.flush()
                    stop.wait(pause)

    linker = threading.Thread(target=link)
    linker.start()
    try:
        time.sleep(0.05)
        done = shop.save()
    finally:
        stop.set()
        linker.join()
    assert "cd/ccd.main.so" not in unpacked(done.path)
    assert done.manifest.left_out == {"changed whenever they were read": 1}
    workflow.verify(done.path)


def test_a_file_that_changes_once_is_taken_again(shop, monkeypatch):
    path, real, calls = shop.cache / "ab/cab.py", saving.descriptor, []

    def changing(name, **options):
        found = real(name, **options)
        if name == str(path):
            calls.append(name)
            if len(calls) == 1:
                path.write_bytes(b"# changed while it is read")
        return found

    monkeypatch.setattr(saving, "descriptor", changing)
    assert unpacked(shop.save().path)["ab/cab.py"] == b"# changed while it is read"
    assert len(calls) == 2


def test_a_large_file_is_saved_without_being_held_in_memory(shop, monkeypatch):
    monkeypatch.setattr(saving, "IN_MEMORY", 1000)
    assert unpacked(shop.save().path)["cd/ccd.main.so"] == ENTRIES["cd/ccd.main.so"]


@pytest.mark.parametrize("path", ["", "ab", "ab/cab.py"])
def test_a_cache_that_others_can_write_is_refused_unless_forced(shop, path):
    (shop.cache / path).chmod(0o777)
    with pytest.raises(UsageError, match="can be written by everybody: somebody else may have put code"):
        shop.save()
    assert shop.save(force=True).written


def test_a_cache_below_a_directory_that_others_can_write_is_refused(shop):
    shop.folder.chmod(0o777)
    with pytest.raises(UsageError, match=f"{shop.folder} can be written by everybody"):
        shop.save()
    shop.folder.chmod(0o1777)
    assert shop.save().written


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("path", ["", "ab/cab.py"])
def test_somebody_elses_cache_is_refused(shop, path):
    os.chown(shop.cache / path, 4242, -1)
    with pytest.raises(UsageError, match="belongs to user 4242: somebody else may"):
        shop.save()


def test_what_looks_like_no_cache_is_refused(shop):
    home = fill(shop.folder / "somebody", {"Documents/letter.txt": b"private"})
    with pytest.raises(UsageError, match="does not look like a compile cache"):
        shop.save(cache=str(home))


@pytest.mark.parametrize(("there", "said"), [(None, "is not there"), (b"x", "is not a directory")])
def test_no_cache_is_a_usage_error(shop, there, said):
    path = shop.folder / "nothing"
    if there:
        path.write_bytes(there)
    with pytest.raises(UsageError, match=said):
        shop.save(cache=str(path))


def test_a_target_without_torch_is_a_usage_error(shop):
    shop.patient.delete("torch/version.py")
    with pytest.raises(UsageError, match="torch is not installed"):
        shop.save()


def test_a_named_file_is_written_and_only_a_save_is_replaced(shop):
    path = shop.folder / "mine.tar.zst"
    assert shop.save(output=str(path)).written
    assert not shop.save(output=str(path)).written
    path.write_text("a letter")
    with pytest.raises(UsageError, match="is there already and no save"):
        shop.save(output=str(path))
    assert path.read_text() == "a letter"
    assert shop.save(output=str(path), force=True).written


def test_litter_of_a_killed_save_is_cleared(shop):
    folder = Path(shop.save().path).parent
    (folder / ".20260101T000000000000Z-x.tar.zst.abc").write_text("half")
    shop.save()
    assert len(list(folder.iterdir())) == 1
