"""All caches together: what there is, for whom, and who may change it."""

import os

import pytest
from cachetrees import add_graph, add_kernel, inductor, put
from fakes import FakeHost

from envdoctor.facts import compile_caches
from envdoctor.facts.compile_caches import collect
from envdoctor.facts.node import Mount, Node
from envdoctor.model import Target, Unavailable

NODE = Node(mounts=(Mount("/", "overlay"), Mount("/tmp", "tmpfs", ("noexec",))))


def look(folder, kind="inductor", *, node=NODE, moment=None, **env):
    host = FakeHost(env={"TORCHINDUCTOR_CACHE_DIR": str(folder / "c"), **env}, home=str(folder / "home"))
    found = collect(Target("/env", "/env/bin/python"), host, None, node)
    return found if kind is None else found.of(kind)


def test_counts_are_by_kind_device_and_build(tmp_path):
    cache = inductor(tmp_path / "c", cuda_0=3, cuda_1=2)
    add_graph(cache, 9, "cuda:0", torch="2.10.0+cu128")
    add_kernel(cache / "triton/0", 1)
    found = look(tmp_path)
    assert found.keys == {"aotautograd": 6, "fxgraph": 6, "triton": 1}
    counts = {(count.kind, count.device, count.torch): count.keys for count in found.counts}
    assert counts["fxgraph", "cuda:0", "2.11.0+cu130"] == 3
    assert counts["fxgraph", "cuda:0", "2.10.0+cu128"] == 1
    assert counts["py", "cuda:1", ""] == 2
    assert counts["triton", "", "3.6.0"] == 1
    assert {(m.what, m.value, m.entries) for m in found.makers if m.what == "torch"} == {
        ("torch", "2.11.0+cu130", 5),
        ("torch", "2.10.0+cu128", 1),
    }
    assert found.exists
    assert found.complete
    assert found.sampled
    assert not found.damage.entries


def test_damage_leftovers_and_locks_are_found(tmp_path):
    cache = inductor(tmp_path / "c", cpu=1)
    put(cache / "ab" / "x.py", "")
    old = put(cache / "ab" / ".4194304.1.tmp", "x")
    os.utime(old, (0, 0))
    lock = put(tmp_path / "home/.cache/torch_extensions/py311_cu128/my_ext/lock", "")
    os.utime(lock, (0, 0))
    found = look(tmp_path)
    assert [entry.kind for entry in found.damage.entries] == ["empty"]
    assert [part.pid for part in found.leftovers] == [4194304]
    (held,) = look(tmp_path, "torch_extensions").locks
    assert (held.path, held.holders) == (str(lock), ())
    assert held.age > 86400


def test_a_temporary_of_a_living_writer_is_none(tmp_path):
    put(inductor(tmp_path / "c") / "ab" / f".{os.getpid()}.1.tmp", "x")
    assert look(tmp_path).leftovers == ()


@pytest.mark.parametrize("limit", ["CONTENTS", "GRAPHS_SECONDS"])
def test_the_budget_for_contents_is_kept_and_said(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(compile_caches, limit, 0)
    inductor(tmp_path / "c", cpu=2)
    found = look(tmp_path)
    assert not found.sampled
    assert found.complete
    assert found.keys == {"aotautograd": 2, "fxgraph": 2}


def test_places_that_are_not_there_say_so(tmp_path):
    found = look(tmp_path)
    assert (found.exists, found.files, found.problem) == (False, 0, None)
    put(tmp_path / "c", "a file")
    assert look(tmp_path).problem == "is no directory"


def test_the_mount_is_that_of_the_place_that_links_lead_to(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    (tmp_path / "c").symlink_to(disk)
    node = Node(mounts=(Mount("/", "overlay"), Mount(str(disk), "tmpfs")))
    assert look(tmp_path, node=node).mount.point == str(disk)
    assert look(tmp_path, node=Unavailable("none")).mount is None


def test_below_a_root_only_files_count(tmp_path):
    inductor(tmp_path / "img/tmp/torchinductor_me", cpu=1)
    put(tmp_path / "img/usr/lib/tmpfiles.d/tmp.conf", "q /tmp 1777 root root 10d\n")
    host = FakeHost(env={"USER": "me"}, root=str(tmp_path / "img"))
    found = collect(Target("/env", "/env/bin/python"), host, None, Unavailable("--root"))
    cache = found.of("inductor")
    assert found.uid is None
    assert cache.keys == {"aotautograd": 1, "fxgraph": 1}
    assert cache.path == "/tmp/torchinductor_me"
    assert cache.cleaner.age == 864000
    assert (cache.access.writable, cache.users) == (None, ())


def test_rights_are_looked_at(tmp_path):
    found = look(tmp_path)
    assert found.access.writable is True
    assert look(tmp_path, None).uid == os.geteuid()
