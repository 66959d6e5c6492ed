"""One walk: sizes, keys, leftovers; links are not followed."""

import os

import pytest
from cachetrees import add_kernel, inductor, put

from envdoctor.facts.cache_walk import Walk


def walk(folder, kind="inductor", *, files=10_000, seconds=60.0, uid=None):
    return Walk(files, seconds, uid).through(str(folder), kind)


def kinds(found):
    return sorted(key.kind for key in found.keys)


def test_keys_are_counted_where_they_lie(tmp_path):
    cache = inductor(tmp_path / "c", cuda_0=2)
    add_kernel(cache / "triton/0", 1)
    put(cache / "fxgraph/zz/empty/entry", "")
    put(cache / "fxgraph/zz/dot/.1.2.tmp", "x")
    put(cache / "loose.json", "{}")
    found = walk(cache)
    assert kinds(found) == ["aotautograd"] * 2 + ["fxgraph"] * 2 + ["triton"]
    assert len(found.modules) == 2
    assert found.files == 6 + 3 + 3
    assert found.size == sum(path.stat().st_size for path in cache.rglob("*") if path.is_file())
    assert found.complete


def test_a_cache_of_triton_s_own_has_kernels_at_its_top(tmp_path):
    add_kernel(tmp_path, 1)
    add_kernel(tmp_path, 2)
    assert kinds(walk(tmp_path, "triton")) == ["triton", "triton"]


def test_links_are_counted_and_never_followed(tmp_path):
    cache, other = inductor(tmp_path / "c"), inductor(tmp_path / "other", cpu=1)
    (cache / "fxgraph").symlink_to(other / "fxgraph")
    (cache / "loop").symlink_to(cache)
    found = walk(cache)
    assert (found.files, found.links, found.keys) == (0, 2, [])


@pytest.mark.parametrize("limits", [{"files": 3}, {"seconds": 0.0}])
def test_a_walk_cut_short_says_so(tmp_path, limits):
    assert not walk(inductor(tmp_path / "c", cpu=3), **limits).complete


def test_a_directory_that_cannot_be_listed_makes_it_incomplete(tmp_path, monkeypatch):
    cache = inductor(tmp_path / "c", cpu=1)
    scandir = os.scandir

    def refuse(path):
        if str(path).endswith("fxgraph"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert not walk(cache).complete


@pytest.mark.parametrize(
    ("name", "pid"),
    [(".77.140.tmp", 77), ("tmp.pid_77_6f1c-aa", 77), ("tmp.0a1b2c3d-1111-2222", None)],
)
def test_temporaries_are_told_by_their_names(tmp_path, name, pid):
    put(tmp_path / "ab" / name, "x")
    put(tmp_path / "ab" / "tmpl.py", "x")
    (found,) = walk(tmp_path).leftovers
    assert (os.path.basename(found.path), found.pid) == (name, pid)


def test_owners_and_modes_in_it_are_looked_at(tmp_path):
    cache = inductor(tmp_path / "c", cpu=1)
    (cache / "fxgraph").chmod(0o777)
    found = walk(cache, uid=os.getuid())
    assert (found.open_to_all, found.first_open, found.foreign) == (1, str(cache / "fxgraph"), 0)
    if os.getuid() == 0:
        os.chown(cache / "aotautograd", 4711, -1)
    expected = 1 if os.getuid() == 0 else 0
    assert walk(cache, uid=os.getuid()).foreign == expected


def test_locks_and_build_files_of_extensions(tmp_path):
    put(tmp_path / "py311_cu128/my_ext/lock", "")
    put(tmp_path / "py311_cu128/my_ext/build.ninja", "")
    found = walk(tmp_path, "torch_extensions")
    assert [os.path.basename(path) for path in found.locks] == ["lock"]
    assert len(found.ninjas) == 1
    assert walk(tmp_path).locks == []


def test_none_is_no_fault(tmp_path):
    assert (walk(tmp_path / "gone").files, walk(tmp_path / "gone").complete) == (0, True)
