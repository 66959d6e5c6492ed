"""Each damage of a compile cache is found, and the nearest healthy neighbour is left alone."""

import json
import os
import time

import pytest
from elves import elf

from envdoctor.facts import cache_entries
from envdoctor.facts.cache_entries import Damage
from envdoctor.facts.cache_faults import CONSEQUENCES

KEY = "A4UYBAWXGMVJCHWIRGNE5LUSQAEYSICZXVQM7GF2UBTYBOZMTSHA"
METADATA = {"target": {"backend": "cuda", "arch": 90}, "name": "add"}
WRAPPER = "bi/cbii.py"
SOURCE, LIBRARY, CONFIG = "es/cesn.main.cpp", "es/cesn.main.so", "ll/clle.best_config"
GRAPHS = ("fxgraph/vf/fvfq/mqgn", "aotautograd/abem/ljlh")
KERNEL = f"triton/0/{KEY}"
CUBIN, JSON, GROUP = f"{KERNEL}/add.cubin", f"{KERNEL}/add.json", f"{KERNEL}/__grp__add.json"
LAUNCHER = f"{KERNEL}/__triton_launcher.cpython-312-x86_64-linux-gnu.so"


@pytest.fixture
def cache(tmp_path):
    """Make a cache in good order, as inductor and Triton lay one out."""
    root = tmp_path / "cache"
    files = {
        WRAPPER: b"def call(args):\n    return args\n",
        SOURCE: b"int main;",
        LIBRARY: elf(),
        CONFIG: b'{"XBLOCK": 1}',
        **dict.fromkeys(GRAPHS, b"\x80\x04."),
        CUBIN: elf(),
        LAUNCHER: elf(),
        f"{KERNEL}/add.ttir": b"",
        JSON: json.dumps(METADATA).encode(),
        GROUP: json.dumps({"child_paths": {name: f"{root}/{KERNEL}/{name}" for name in ("add.cubin", "add.json")}}),
        "locks/cesn.lock": b"",
        "es/cesn.main.so.load_ok": b"",
    }
    for name, content in files.items():
        write(root / name, content)
    return root


def write(path, content=b""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def look(cache, *, limit_files=1000, limit_bytes=64 << 20, deadline=10.0):
    return cache_entries.damaged(str(cache), limit_files=limit_files, limit_bytes=limit_bytes, deadline=deadline)


def found(cache):
    """Return path (relative), kind and what to remove of each damaged entry; the search must have been complete."""
    damage = look(cache)
    assert damage.complete
    return [
        (os.path.relpath(item.path, cache), item.kind, os.path.relpath(item.remove, cache)) for item in damage.entries
    ]


def test_a_cache_in_good_order_has_none(cache):
    assert look(cache) == Damage((), checked=10, complete=True)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        (WRAPPER, b"", "empty"),
        (WRAPPER, b"def call(args):\n    return (", "not-python"),
        (WRAPPER, b"\x93garbage\xff", "not-python"),
        (WRAPPER, b"x = 1\0", "not-python"),
        (WRAPPER, b"-" * 100_000 + b"1", "not-python"),
        (LIBRARY, b"", "empty"),
        (LIBRARY, b"not an object", "not-elf"),
        (LIBRARY, elf()[:200], "truncated-elf"),
        (CONFIG, b"", "empty"),
        (CONFIG, b'{"XBLOCK"', "not-json"),
        (CONFIG, b"\xff\xfe{\0}\0", "not-json"),
        (GRAPHS[0], b"", "empty"),
        (GRAPHS[1], b"", "empty"),
    ],
)
def test_a_damaged_file_is_found_and_is_what_to_remove(cache, name, content, kind):
    write(cache / name, content)
    assert found(cache) == [(name, kind, name)]


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        (CUBIN, b"", "empty"),
        (CUBIN, elf()[:-1], "truncated-elf"),
        (CUBIN, b"0000", "not-elf"),
        (LAUNCHER, b"", "empty"),
        (JSON, b"", "empty"),
        (JSON, b'{"target": {"backend"', "not-json"),
        (JSON, b"[" * 100_000, "not-json"),
        (JSON, b"[]", "not-json"),
        (GROUP, b"", "empty"),
        (GROUP, b"{}", "not-json"),
        (GROUP, b'{"child_paths": {"add.json": "/gone/add.json"}}', "dangling-child"),
        (GROUP, b'{"child_paths": {"add.json": "/gone\\u0000", "b": "\\ud800", "c": 7}}', "dangling-child"),
    ],
)
def test_damage_in_a_kernel_costs_the_whole_kernel(cache, name, content, kind):
    write(cache / name, content)
    assert found(cache) == [(name, kind, KERNEL)]


def test_a_lost_cubin_is_missed_once(cache):
    (cache / CUBIN).unlink()
    assert found(cache) == [(JSON, "missing-cubin", KERNEL)]
    assert look(cache).entries[0].what == "is there without its add.cubin"


def test_a_lost_metadata_file_is_missed_by_its_group(cache):
    (cache / JSON).unlink()
    assert found(cache) == [(GROUP, "dangling-child", KERNEL)]


def test_a_kernel_that_was_moved_names_where_it_was(cache):
    cache = cache.rename(cache.with_name("moved"))
    assert found(cache) == [(GROUP, "dangling-child", KERNEL)]
    assert "cache/triton" in (what := look(cache).entries[0].what)
    assert what.endswith("add.cubin and 1 more")


def test_a_kernel_for_other_hardware_needs_no_cubin(cache):
    write(cache / JSON, json.dumps(METADATA | {"target": {"backend": "hip", "arch": "gfx942"}}))
    (cache / CUBIN).rename(cache / KERNEL / "add.hsaco")
    write(cache / GROUP, json.dumps({"child_paths": {}}))
    assert found(cache) == []


class TestSources:
    def test_an_empty_one_matters_only_where_nothing_is_built_from_it(self, cache):
        write(cache / SOURCE)
        assert found(cache) == []
        (cache / LIBRARY).unlink()
        assert found(cache) == [(SOURCE, "empty", SOURCE)]

    def test_an_empty_one_matters_where_what_is_built_from_it_must_go(self, cache):
        write(cache / SOURCE)
        write(cache / LIBRARY)
        assert found(cache) == [(SOURCE, "empty", SOURCE), (LIBRARY, "empty", LIBRARY)]

    def test_one_without_its_library_is_built_again(self, cache):
        (cache / LIBRARY).unlink()
        assert found(cache) == []


@pytest.mark.parametrize(
    "name",
    [
        "bi/.4242.140000.tmp",
        "fxgraph/vf/fvfq/.4242.140000.tmp",
        f"{KERNEL}/tmp.pid_4242_0b1c/add.cubin",
        f"{KERNEL}/lock",
        "fxgraph/vf/tmp.0b1c/x",
        "precompiled_headers/x.py",
        "locks/x.so",
        "notes.py",
        "cache/abc.json",
        "someone/else.py",
        "bi/deeper/x.py",
    ],
)
def test_what_is_no_entry_is_left_alone(cache, name):
    write(cache / name)
    assert found(cache) == []


def test_a_directory_of_triton_alone_is_one_too(cache):
    write(cache / CUBIN)
    assert [item.kind for item in look(cache / "triton").entries] == ["empty"]
    assert [item.remove for item in look(cache / KERNEL).entries] == [str(cache / KERNEL)]


def test_every_role_and_damage_has_its_consequence(cache):
    write(cache / WRAPPER)
    (item,) = look(cache).entries
    assert (item.what, item.consequence) == ("is empty", CONSEQUENCES[".py", "empty"])


class TestHostile:
    def test_links_are_not_followed(self, cache, tmp_path):
        write(tmp_path / "elsewhere" / "x.so")
        (cache / "zz").symlink_to(tmp_path / "elsewhere")
        (cache / "bi" / "x.so").symlink_to(tmp_path / "elsewhere" / "x.so")
        (cache / "bi" / "loop").symlink_to(cache)
        assert found(cache) == []

    def test_a_fifo_is_never_opened(self, cache):
        for name in ("bi/x.py", "bi/x.so", f"{KERNEL}/x.json"):
            os.mkfifo(cache / name)
        assert found(cache) == []

    def test_a_link_put_in_place_of_a_file_meanwhile_is_not_followed(self, cache, monkeypatch, tmp_path):
        real = cache_entries.faults
        write(tmp_path / "elsewhere", b"neither ELF nor Python nor JSON")

        def swapped(path, role):
            os.unlink(path)
            os.symlink(tmp_path / "elsewhere", path)
            return real(path, role)

        monkeypatch.setattr(cache_entries, "faults", swapped)
        damage = look(cache)
        assert (damage.entries, damage.complete) == ((), False)

    def test_a_name_that_is_no_text_is_a_name(self, cache):
        write(cache / "bi" / os.fsdecode(b"\xff\xfe.py"))
        assert found(cache) == [("bi/\udcff\udcfe.py", "empty", "bi/\udcff\udcfe.py")]

    def test_depth_has_an_end(self, cache):
        folder = cache / "triton"
        for _ in range(400):
            folder = folder / "d"
        folder.mkdir(parents=True)
        assert not look(cache).complete

    def test_what_it_reads_is_never_run(self, cache):
        write(cache / WRAPPER, f"open({str(cache / 'ran')!r}, 'w')\n")
        assert found(cache) == []
        assert not (cache / "ran").exists()

    def test_warnings_of_a_module_are_nobodys(self, cache):
        write(cache / WRAPPER, 'call = "\\d" is 1\n')
        assert found(cache) == []

    def test_files_that_vanish_meanwhile_are_no_fault(self, cache, monkeypatch):
        real = cache_entries.faults

        def vanished(path, role):
            os.unlink(path)
            return real(path, role)

        monkeypatch.setattr(cache_entries, "faults", vanished)
        assert found(cache) == []

    def test_a_sparse_file_of_terabytes_is_not_read(self, cache):
        for name in ("bi/x.py", CONFIG):
            with (cache / name).open("wb") as stream:
                stream.truncate(1 << 40)
        damage = look(cache)
        assert (damage.entries, damage.complete) == ((), False)


class TestLimits:
    def test_a_cache_that_is_not_there_has_no_entries(self, tmp_path):
        assert look(tmp_path / "none") == Damage()

    def test_files(self, cache):
        damage = look(cache, limit_files=3)
        assert (damage.checked, damage.complete) == (3, False)

    def test_bytes(self, cache):
        write(cache / CUBIN)
        damage = look(cache, limit_bytes=1)
        assert ([item.kind for item in damage.entries], damage.complete) == (["empty"], False)

    def test_seconds(self, cache):
        began = time.monotonic()
        assert look(cache, deadline=0) == Damage(complete=False)
        assert time.monotonic() - began < 1

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_what_may_not_be_read_is_not_called_healthy(self, cache):
        (cache / WRAPPER).chmod(0)
        (cache / "es").chmod(0)
        assert not look(cache).complete
        (cache / "es").chmod(0o700)


@pytest.mark.whole  # takes seconds
def test_ten_thousand_files_take_little(tmp_path):
    for number in range(10_000):
        if not number % 100:
            folder = tmp_path / "fxgraph" / "ab" / f"f{number}"
            folder.mkdir(parents=True)
        (folder / str(number)).write_bytes(b".")
    began = time.process_time()
    assert look(tmp_path, limit_files=20_000) == Damage((), 10_000)
    assert time.process_time() - began < 2
