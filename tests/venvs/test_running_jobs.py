"""Real Pythons in a real venv behind a link: what is said of each before a switch is what it does after it."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from nobody import as_nobody

from envdoctor.generations.jobs import jobs

pytestmark = pytest.mark.venv
WAITING = """\
import sys
print(sys.prefix, flush=True)
sys.stdin.readline()
import late
print(late.version, flush=True)
"""
"""Imports its last module when it is told to."""
LATE = "version = {!r}\n"


class Project:
    """Two versions of an environment, and the link to the first."""

    def __init__(self, folder):
        self.folder = folder
        self.link = folder / "venv"
        self.old, self.new = (self.make(folder / ".envs" / "venv" / name) for name in ("old", "new"))
        self.link.symlink_to(".envs/venv/old")
        (folder / "train.py").write_text(WAITING)

    @staticmethod
    def make(prefix):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(prefix)], check=True)
        (site,) = prefix.glob("lib/python3*/site-packages")
        (site / "late.py").write_text(LATE.format(prefix.name))
        script = prefix / "bin" / "train"
        script.write_text(f"#!{prefix}/bin/python\n{WAITING}")
        script.chmod(0o755)
        return prefix

    def switch(self):
        (self.folder / ".venv.new").symlink_to(".envs/venv/new")
        os.replace(self.folder / ".venv.new", self.link)


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


ACTIVATED = ["bash", "-c", "source venv/bin/activate && exec python train.py"]
STARTS = {
    "through the link": (["{}/venv/bin/python", "train.py"], "mixes"),
    "relative to the project": (["venv/bin/python", "train.py"], "mixes"),
    "the link in PATH": (["env", "PATH={}/venv/bin:/usr/bin:/bin", "python", "train.py"], "mixes"),
    "a relative PATH": (["bash", "-c", "PATH=venv/bin:$PATH && exec python train.py"], "mixes"),
    "from another directory, which it left": (
        ["bash", "-c", "cd venv && exec ../../../venv/bin/python ../../../train.py"],
        "mixes",
    ),
    "the link in PYTHONPATH": (["env", "PYTHONPATH={}/venv/SITE", sys.executable, "train.py"], "mixes"),
    "by the real path": (["{}/.envs/venv/old/bin/python", "train.py"], "keeps"),
    "activated": (ACTIVATED, "keeps"),
    "readlink": (["bash", "-c", 'exec "$(readlink -f venv)/bin/python" train.py'], "keeps"),
    "a script of it": (["{}/venv/bin/train"], "keeps"),
    "from inside": (["bash", "-c", "cd venv && exec bin/python ../../../train.py"], "keeps"),
    "the real path in PYTHONPATH": (["env", "PYTHONPATH={}/.envs/venv/old/SITE", sys.executable, "train.py"], "keeps"),
    "another environment": ([sys.executable, "-c", "input()"], None),
}


def start(argv, folder):
    """Start a job as a shell in a folder would; wait until it runs."""
    site = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    argv = [word.replace("{}", str(folder)).replace("SITE", site) for word in argv]
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen(argv, cwd=folder, env=kept | {"PWD": str(folder)}, **pipes)


def verdict(process, link):
    found = jobs(str(link), os.path.realpath(link), seconds=60)
    keeps, mixes = ([job.pid for job in judged] for judged in (found.keeping, found.mixing))
    return "keeps" if process.pid in keeps else "mixes" if process.pid in mixes else None


@pytest.mark.parametrize("way", STARTS)
def test_what_is_said_of_a_job_is_what_it_does_at_a_switch(way, project):
    argv, said = STARTS[way]
    with start(argv, project.folder) as process:
        if said is not None:
            process.stdout.readline()
        assert verdict(process, project.link) == said
        project.switch()
        out, _ = process.communicate("go\n", timeout=60)
    assert out.strip() == {"keeps": "old", "mixes": "new", None: ""}[said]


def test_every_job_mixes_when_a_directory_becomes_a_link(project):
    project.link.unlink()
    project.make(project.link)
    (late,) = project.link.glob("lib/python3*/site-packages/late.py")
    late.write_text(LATE.format("old"))
    with start(ACTIVATED, project.folder) as process:
        assert process.stdout.readline() == f"{project.link}\n"
        assert verdict(process, project.link) == "mixes"
        project.link.rename(project.folder / ".envs" / "venv" / "first")
        project.link.symlink_to(".envs/venv/new")
        assert process.communicate("go\n", timeout=60)[0] == "new\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root to have processes of two users")
def test_another_user_s_job_is_known_by_its_command_line_and_the_rest_is_said_to_be_closed():
    with tempfile.TemporaryDirectory(prefix="envdoctor-jobs-") as folder:
        os.chmod(folder, 0o755)  # noqa: S103 - another user is to come to it
        project = Project(Path(folder))
        ways = [["{}/venv/bin/python", "train.py"], ["{}/.envs/venv/old/bin/python", "train.py"], ACTIVATED]
        running = [start(way, project.folder) for way in ways]
        try:
            for process in running:
                process.stdout.readline()
            found = as_nobody(lambda: jobs(str(project.link), str(project.old), seconds=60))
        finally:
            for process in running:
                process.communicate("go\n", timeout=60)
    mixing, keeping, unknown = (process.pid for process in running)
    assert [(job.pid, job.user) for job in found.mixing] == [(mixing, "root")]
    assert [job.pid for job in found.keeping] == [keeping]
    assert unknown not in {job.pid for job in (*found.mixing, *found.keeping)}
    assert any(said.endswith(" cannot be looked into") and "root" in said for said in found.unchecked)


def test_a_worker_that_writes_a_title_over_its_command_line_is_judged_by_what_started_it(project):
    title = "import ctypes,sys,mmap,time\n" + TITLE
    (extension,) = list(Path(sys.base_prefix).glob("lib/python3*/lib-dynload/_json*.so"))[:1] or [None]
    if extension is None:
        pytest.skip("this Python has no extension module to load from the environment")
    copy = project.old / "lib" / extension.name
    copy.write_bytes(extension.read_bytes())
    code = f"import subprocess,sys; subprocess.run([sys.executable, '-c', {title!r}, {str(copy)!r}])"
    with start([f"{project.old}/bin/python", "-c", code], project.folder) as process:
        worker = int(process.stdout.readline())
        try:
            assert Path(f"/proc/{worker}/cmdline").read_bytes().startswith(b"ray::IDLE\0")
            found = {job.pid: job.how for job in jobs(str(project.link), str(project.old), seconds=60).keeping}
        finally:
            os.kill(worker, signal.SIGKILL)
            process.communicate(timeout=60)
    assert found[worker].startswith(f"process {process.pid}, which started it, was ")


TITLE = """\
import os, sys
ctypes.CDLL(sys.argv[-1], os.RTLD_LAZY)
with open("/proc/self/stat") as stream:
    begin, end = map(int, stream.read().rpartition(")")[2].split()[45:47])
title = b"ray::IDLE".ljust(end - begin, b"\\0")
ctypes.memmove(begin, title, len(title))
print(os.getpid(), flush=True)
time.sleep(600)
"""
"""Fields 48 and 49 of proc_pid_stat(5) are where the command line lies."""
