"""Who has files of a cache open; a made-up /proc and the real one."""

import os
import subprocess
import sys

from envdoctor.facts.cache_users import below, users


def process(proc, pid, *, opened=(), maps=(), cwd="/"):
    folder = proc / str(pid)
    (folder / "fd").mkdir(parents=True)
    for number, path in enumerate(opened):
        (folder / "fd" / str(number)).symlink_to(path)
    lines = [f"7f00-7f01 r-xp 00000000 fe:01 123   {path}" for path in maps]
    (folder / "maps").write_text("\n".join(["7f00-7f01 rw-p 00000000 00:00 0", "7f-80 r--p 0 0:0 0 [heap]", *lines]))
    (folder / "cwd").symlink_to(cwd)
    (folder / "comm").write_text("python\n")


def test_open_files_maps_and_working_directories_are_found(tmp_path):
    proc = tmp_path / "proc"
    process(proc, 11, opened=["/cache/locks/a.lock", "/elsewhere"])
    process(proc, 12, maps=["/cache/ab/x y.so", "/usr/lib/libc.so"])
    process(proc, 13, cwd="/cache/ext")
    process(proc, 14, opened=["/cached/x"])
    (proc / "self").mkdir()
    found = users(["/cache"], seconds=5, proc=str(proc))
    assert {(user.pid, user.path, user.how) for user in found} == {
        (11, "/cache/locks/a.lock", "open"),
        (12, "/cache/ab/x y.so", "mapped"),
        (13, "/cache/ext", "works there"),
    }
    assert [user.pid for user in below(found, "/cache")] == [11, 12], "a shell's place is no use"
    assert [user.pid for user in below(found, "/cache/ab")] == [12]
    assert {user.command for user in found} == {"python"}


def test_one_without_rights_or_time_ends_the_search_quietly(tmp_path):
    assert users(["/cache"], seconds=5, proc=str(tmp_path / "none")) == ()
    process(tmp_path, 11, opened=["/cache/a"])
    assert users(["/cache"], seconds=-1, proc=str(tmp_path)) == ()


def test_a_real_process_is_seen(tmp_path):
    file = tmp_path / "x.so"
    file.write_text("x")
    code = f"f = open({str(file)!r}); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        found = users([str(tmp_path)], seconds=10)
        child.communicate(b"\n")
    assert [(user.pid, user.path) for user in found] == [(child.pid, os.path.realpath(file))]
