"""What a restore brings back, what it leaves as it is, and when it refuses."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cached import ENTRIES, KEY, contents, fill

from envdoctor.cache import job, restoring
from envdoctor.cache.manifest import Made
from envdoctor.errors import UsageError
from envdoctor.system import beside


@pytest.fixture
def saved(shop):
    return shop.save().path


def restore(shop, saved, **more):
    return restoring.restore(saved, shop.wish, shop.host(), **more)


def test_a_lost_cache_is_as_it_was_and_private(shop, saved):
    shutil.rmtree(shop.cache)
    done = restore(shop, saved)
    assert (done.added, done.kept, done.bound) == (len(ENTRIES), (), 0)
    assert contents(shop.cache) == ENTRIES
    modes = {path.stat().st_mode & 0o7777 for path in [shop.cache, *shop.cache.rglob("*")] if path.is_dir()}
    assert modes == {0o700}
    assert {path.stat().st_mode & 0o7777 for path in shop.cache.rglob("*") if path.is_file()} == {0o600}
    assert sorted(os.listdir(shop.folder)) == ["cache", "data", "project"]


def test_what_is_there_stays_and_what_is_missing_is_added(shop, saved):
    (shop.cache / "ab/cab.py").write_text("mine")
    (shop.cache / "cd/ccd.main.so").unlink()
    fill(shop.cache, {"zz/new.py": b"newer"})
    done = restore(shop, saved)
    assert done.added == 1
    assert contents(shop.cache) == {**ENTRIES, "ab/cab.py": b"mine", "zz/new.py": b"newer"}


def test_to_another_path_triton_is_left_out(shop, saved):
    done = restore(shop, saved, to=str(shop.folder / "deep/other"))
    assert contents(shop.folder / "deep/other") == {
        name: data for name, data in ENTRIES.items() if not name.startswith("triton/")
    }
    assert done.bound == 3
    assert (done.path, done.why) == (str(shop.folder / "deep/other"), "--to")


def test_through_a_link_to_the_same_place_triton_comes_along(shop, saved):
    (shop.folder / "link").symlink_to("cache")
    shutil.rmtree(shop.cache)
    shop.cache.mkdir(mode=0o700)
    assert restore(shop, saved, to=str(shop.folder / "link")).bound == 0
    assert contents(shop.cache) == ENTRIES


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (
            "__version__ = '2.12.0+cu128'\ncuda = '12.8'\ngit_version = 'abc1234'\n",
            "torch 2.11.0+cu128 then, 2.12.0+cu128 now",
        ),
        (
            "__version__ = '2.11.0+cu128'\ncuda = '12.8'\ngit_version = 'abd1234'\n",
            "torch's git commit abc1234 then, abd1234 now",
        ),
        ("__version__ = '2.11.0+cu130'\ncuda = '13.0'\ngit_version = 'abc1234'\n", "CUDA 12.8 then, 13.0 now"),
        ("__version__ = '2.11.0+cpu'\ngit_version = 'abc1234'\n", "CUDA 12.8 then, none now"),
    ],
)
def test_onto_another_torch_it_is_refused_with_what_differs(shop, saved, edit, said):
    shop.patient.edit("torch/version.py", edit.encode())
    shutil.rmtree(shop.cache)
    with pytest.raises(UsageError) as raised:
        restore(shop, saved)
    assert said in str(raised.value)
    assert not shop.cache.exists()
    assert restore(shop, saved, force=True).added == len(ENTRIES)


def test_onto_another_triton_it_is_refused(shop, saved):
    (shop.patient.site / "triton-3.6.0.dist-info").rename(shop.patient.site / "triton-3.7.0.dist-info")
    metadata = shop.patient.site / "triton-3.7.0.dist-info/METADATA"
    metadata.write_text(metadata.read_text().replace("3.6.0", "3.7.0"))
    with pytest.raises(UsageError, match=r"triton 3\.6\.0 then, 3\.7\.0 now"):
        restore(shop, saved)


@pytest.mark.parametrize(
    ("then", "now", "fits"),
    [
        (("cuda:90",), ("cuda:80",), False),
        (("cuda:80", "cuda:90"), ("cuda:80",), True),
        (("cuda:90",), (), True),  # no GPU can be seen here: a login node
        ((), ("cuda:90",), True),
    ],
)
def test_kernels_for_other_gpus_do_not_fit(then, now, fits):
    said = list(job.differences(Made(archs=then), Made(archs=now)))
    assert (said == []) == fits
    assert fits or said == ["kernels for cuda:90, GPUs of cuda:80"]


def test_a_link_in_the_cache_leads_nothing_outside(shop, saved):
    outside = shop.folder / "outside"
    outside.mkdir()
    shutil.rmtree(shop.cache / "ab")
    (shop.cache / "ab").symlink_to(outside)
    with pytest.raises(beside.EnvDoctorError, match="cache/ab: is in the way"):
        restore(shop, saved)
    assert list(outside.iterdir()) == []


def test_a_file_where_a_directory_belongs_is_in_the_way(shop, saved):
    shutil.rmtree(shop.cache / "ab")
    (shop.cache / "ab").write_text("x")
    with pytest.raises(beside.EnvDoctorError, match="cache/ab: is in the way"):
        restore(shop, saved)
    assert not [name for name in os.listdir(shop.cache) if name.startswith("tmp.")]


@pytest.mark.parametrize("mapped", [False, True])
def test_a_cache_in_use_is_not_touched(shop, saved, mapped):
    path = shop.cache / "cd/ccd.main.so"
    how = "import mmap; m = mmap.mmap(f.fileno(), 0, prot=1); f.close()" if mapped else ""
    code = f"import sys; f = open(sys.argv[1], 'rb'); {how}\nprint('ready', flush=True); sys.stdin.read()"
    user = subprocess.Popen([sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        user.stdout.readline()
        with pytest.raises(UsageError, match=rf"is in use by process {user.pid} \(.*\), which has {path} open"):
            restore(shop, saved)
    finally:
        user.communicate()
    restore(shop, saved)


def test_a_save_that_others_can_write_is_refused(shop, saved):
    Path(saved).chmod(0o666)
    with pytest.raises(UsageError, match="can be written by everybody: somebody else may have put code into this save"):
        restore(shop, saved)


def test_a_cache_that_others_can_write_is_no_place(shop, saved):
    shop.cache.chmod(0o777)
    with pytest.raises(UsageError, match="can be written by everybody"):
        restore(shop, saved)


def test_what_a_killed_restore_left_is_cleared(shop, saved):
    left = shop.cache / f"{beside.MARK}dead"
    (left / "tree").mkdir(parents=True)
    restore(shop, saved)
    assert not left.exists()


def test_without_hard_links_files_are_renamed(shop, saved, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    (shop.cache / "ab/cab.py").write_text("mine")
    (shop.cache / "cd/ccd.main.so").unlink()
    assert restore(shop, saved).added == 1
    assert contents(shop.cache) == {**ENTRIES, "ab/cab.py": b"mine"}


def test_a_group_file_comes_after_what_it_names():
    paths = [f"triton/0/{KEY}/__grp__k.json", f"triton/0/{KEY}/k.json", "aotautograd/a/b", "fxgraph/a/b/c", "zz/z.py"]
    kept = [restoring.Kept(path, 0, 0, "") for path in paths]
    ordered = [item.path for item in sorted(kept, key=restoring._turn)]
    assert ordered == [paths[1], paths[4], paths[0], paths[3], paths[2]]
