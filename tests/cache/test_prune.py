"""Prune takes out what is damaged or abandoned, and nothing else."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cached import ENTRIES, KEY, contents, fill
from cachetrees import add_graph, add_kernel, inductor

from envdoctor.cache import pruning
from envdoctor.errors import EnvDoctorError, UsageError

DEAD = 4_194_305
"""A process id beyond what Linux gives (PID_MAX_LIMIT, 2**22)."""
ALIVE = 1
"""There is always an init."""
SOUND = {name: data for name, data in ENTRIES.items() if not name.startswith(("triton/", "cd/", "ef/"))}
OLD = 7200
OWN = {"torch": "2.11.0+cu128", "cuda": "12.8", "git": "abc1234"}


def age(path, seconds):
    for each in [path, *path.rglob("*")] if path.is_dir() else [path]:
        os.utime(each, (time.time() - seconds,) * 2, follow_symlinks=False)


@pytest.fixture
def cache(tmp_path):
    return fill(tmp_path / "pruned", SOUND)


@pytest.fixture
def prune(shop, cache):
    return lambda *, act=True, **more: pruning.prune(shop.host(), cache=str(cache), act=act, **more)


def damage(cache, name, content=b"", seconds=OLD):
    fill(cache, {name: content})
    age(cache / name, seconds)
    return str(cache / name)


def test_a_sound_cache_is_left_as_it_is(cache, prune):
    found = prune()
    assert (found.removals, found.quarantine, found.complete) == ((), None, True)
    assert contents(cache) == SOUND


def test_without_yes_it_is_only_listed(cache, prune):
    path = damage(cache, "ab/empty.py")
    found = prune(act=False)
    assert [(item.path, item.kind) for item in found.removals] == [(path, "empty")]
    assert (found.quarantine, contents(cache)) == (None, {**SOUND, "ab/empty.py": b""})


def test_what_is_damaged_goes_into_quarantine_and_the_rest_stays(cache, prune):
    damage(cache, "ab/empty.py")
    damage(cache, "zz/broken.py", b"def (")
    damage(cache, "zz/cut.so", b"\x7fELF")
    found = prune()
    assert contents(cache) == SOUND
    assert contents(found.quarantine) == {"ab/empty.py": b"", "zz/broken.py": b"def (", "zz/cut.so": b"\x7fELF"}
    assert os.path.dirname(found.quarantine) == f"{cache}.envdoctor-quarantine"
    assert Path(found.quarantine).stat().st_mode & 0o777 == 0o700
    assert prune().removals == ()


def test_a_kernel_goes_as_a_whole_and_once(cache, prune):
    kernel = f"triton/0/{KEY}"
    fill(cache, {f"{kernel}/k.json": b"{", f"{kernel}/k.cubin": b"", f"{kernel}/__grp__k.json": b""})
    age(cache / kernel, OLD)
    found = prune()
    assert [item.path for item in found.removals] == [str(cache / kernel)]
    assert contents(cache) == SOUND
    assert sorted(os.listdir(f"{found.quarantine}/{kernel}")) == ["__grp__k.json", "k.cubin", "k.json"]


@pytest.mark.parametrize(
    "name", ["ab/.{pid}.7.tmp", "triton/0/tmp.pid_{pid}_ab-cd/k.cubin", "triton/0/tmp.ab-cd/k.cubin"]
)
@pytest.mark.parametrize(("pid", "seconds", "goes"), [(DEAD, OLD, True), (DEAD, 600, False), (ALIVE, OLD, False)])
def test_what_a_dead_writer_had_under_way_goes_after_an_hour(cache, prune, name, pid, seconds, goes):
    path = cache / name.format(pid=pid)
    fill(cache, {str(path.relative_to(cache)): b"half"})
    age(path.parent if path.name == "k.cubin" else path, seconds)
    nameless = "{pid}" not in name and seconds == OLD
    found = prune()
    assert (len(found.removals) == 1) == (goes or nameless)
    assert path.exists() != (goes or nameless)


@pytest.fixture
def mixed(tmp_path):
    """A cache with a graph and a kernel of the environment's own."""
    cache = inductor(tmp_path / "pruned")
    add_graph(cache, 1, "cuda:0", **OWN)
    add_kernel(cache / "triton/0", 1)
    return cache


def test_what_another_build_made_is_stale_only_if_that_is_asked(shop, mixed, prune):
    before = contents(mixed)
    assert prune(stale_for=shop.wish).removals == ()
    add_graph(mixed, 2, "cuda:0", torch="2.9.1+cu128", cuda="12.8")
    add_kernel(mixed / "triton/0", 2, triton="3.5.1")
    both = contents(mixed)
    assert prune().removals == ()
    found = prune(stale_for=shop.wish)
    gone = sorted(Path(item.path).relative_to(mixed).parts[0] for item in found.removals)
    assert gone == ["aotautograd", "fxgraph", "triton"]
    assert {item.why for item in found.removals} == {
        "was made by torch 2.9.1+cu128; the environment has 2.11.0+cu128",
        "was made by triton 3.5.1; the environment has 3.6.0",
    }
    assert contents(mixed).items() >= before.items()
    assert {**contents(mixed), **contents(found.quarantine)} == both
    assert contents(mixed).keys() - before.keys() == {name for name in both.keys() - before.keys() if "/c" in name}
    assert prune(stale_for=shop.wish).removals == ()


@pytest.mark.parametrize(
    ("texts", "why"), [({"git": "0123456"}, "torch of commit 0123456"), ({"cuda": "13.0"}, "CUDA")]
)
def test_another_build_of_one_version_is_stale_too(shop, mixed, prune, texts, why):
    add_graph(mixed, 2, "cuda:0", **OWN | texts)
    (removal,) = prune(stale_for=shop.wish, act=False).removals
    assert why in removal.why


def test_what_does_not_say_who_made_it_stays(shop, mixed, prune):
    add_graph(mixed, 2, "cuda:0", told=False)
    assert prune(stale_for=shop.wish).removals == ()


def test_what_was_written_just_now_is_left_alone(cache, prune):
    path = damage(cache, "ab/empty.py", seconds=5)
    found = prune()
    assert (found.removals, found.young) == ((), (path,))
    assert os.path.exists(path)


def test_a_cache_in_use_is_left_alone(cache, prune):
    path = damage(cache, "ab/empty.py")
    code = "import sys; f = open(sys.argv[1]); print('ready', flush=True); sys.stdin.read()"
    user = subprocess.Popen(
        [sys.executable, "-c", code, cache / "ab/cab.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        user.stdout.readline()
        with pytest.raises(UsageError, match=f"is in use by process {user.pid}"):
            prune()
        assert prune(act=False).removals
    finally:
        user.communicate()
    assert os.path.exists(path)


@pytest.mark.parametrize("place", ["pruned", "pruned/ab"])
def test_links_are_not_followed(tmp_path, cache, prune, place):
    fill(tmp_path / "elsewhere", {"empty.py": b"", "aa/empty.py": b""})
    age(tmp_path / "elsewhere", OLD)
    (tmp_path / place / "xy").symlink_to(tmp_path / "elsewhere")
    assert prune().removals == ()
    assert (tmp_path / "elsewhere/empty.py").exists()


def test_a_cache_that_others_can_write_is_refused(cache, prune):
    cache.chmod(0o777)
    with pytest.raises(UsageError, match="can be written by everybody"):
        prune()


def test_no_cache_is_a_usage_error(shop, tmp_path):
    with pytest.raises(UsageError, match="there is no compile cache"):
        pruning.prune(shop.host(), cache=str(tmp_path / "nothing"), act=True)


def test_where_no_quarantine_can_be_made_it_says_so(cache, prune):
    path = damage(cache, "ab/empty.py")
    Path(f"{cache}.envdoctor-quarantine").write_text("in the way")
    with pytest.raises(EnvDoctorError, match="envdoctor-quarantine"):
        prune()
    assert os.path.exists(path)
