"""The hook in a real pre-commit, which builds an environment for it, on a repository of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from envdoctor.wheels import Wheel

pytestmark = pytest.mark.venv

HOOKS = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"
PIN = "six==1.17.0 --hash=sha256:" + "1" * 64 + "\n"
UNPINNED = "idna>=3\n"
PYPROJECT = """\
[project]
name = "gpu-envdoctor"
version = "0"
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
BACKEND = """\
import pathlib, shutil
def build_wheel(folder, config_settings=None, metadata_directory=None):
    (wheel,) = pathlib.Path("prepared").glob("*.whl")
    shutil.copy(wheel, folder)
    return wheel.name
"""
STAND_IN = """\
import os, sys
def main():
    os.execv({python!r}, [{python!r}, "-m", "envdoctor", *sys.argv[1:]])
"""
"""Starts the envdoctor that is tested: the hook's own environment cannot get its dependencies without a network."""
CONFIG = """\
repos:
- repo: {repository}
  rev: {revision}
  hooks:
  - id: envdoctor-lock-audit
"""


def pre_commit():
    """Return the pre-commit that lies beside the Python that runs the tests, else the one on PATH."""
    found = shutil.which("pre-commit", path=os.path.dirname(sys.executable)) or shutil.which("pre-commit")
    if found is None:
        pytest.fail("pre-commit is not installed beside the tests: nox -s tests_venv brings it")
    return found


class Repository:
    """A git repository that nobody's configuration reaches."""

    def __init__(self, folder, store):
        self.folder, self.store = folder, store
        folder.mkdir()
        self.run("git", "init", "--quiet")

    def start(self, *argv):
        """Run in the repository, offline, and return how it went."""
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder.parent),
            "PRE_COMMIT_HOME": str(self.store),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "PIP_NO_INDEX": "1",
            "VIRTUALENV_NO_PERIODIC_UPDATE": "1",
        } | {f"GIT_{who}_{what}": "t@h.example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "check": False}
        return subprocess.run(argv, cwd=self.folder, env=env, **options)

    def run(self, *argv):
        """Run what must succeed; return what it printed."""
        done = self.start(*argv)
        assert done.returncode == 0, f"{argv}\n{done.stdout}\n{done.stderr}"
        return done.stdout.strip()

    def commit(self, files):
        """Write files and commit them, no hook asked; return the commit."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.run("git", "add", "--all")
        self.run("git", "commit", "--quiet", "--no-verify", "--message", "x")
        return self.run("git", "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Where pre-commit keeps the environments that it builds."""
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def hook(tmp_path_factory, store):
    """The repository that the hook comes from: ours in all but the packages it would need."""
    found = Repository(tmp_path_factory.mktemp("hook") / "envdoctor", store)
    stand_in = Wheel(
        "gpu-envdoctor",
        "0",
        {"stand_in.py": STAND_IN.format(python=sys.executable)},
        console_scripts={"envdoctor": "stand_in:main"},
    )
    stand_in.build(found.folder / "prepared")
    hooks = HOOKS.read_text(encoding="utf-8")
    revision = found.commit({".pre-commit-hooks.yaml": hooks, "pyproject.toml": PYPROJECT, "backend.py": BACKEND})
    return CONFIG.format(repository=found.folder, revision=revision)


@pytest.fixture
def project(tmp_path, hook, store):
    """A project that uses the hook, with a sound lock and a file that is no lock."""
    found = Repository(tmp_path / "project", store)
    found.commit({".pre-commit-config.yaml": hook, "lockfiles/good.txt": PIN, "requirements.txt": UNPINNED})
    return found


def test_a_sound_lock_passes_and_what_is_no_lock_is_not_asked_about(project):
    said = project.run(pre_commit(), "run", "--all-files", "--verbose")
    assert "Passed" in said
    assert "requirements.txt" not in said


def test_a_bad_lock_fails_with_its_place(project):
    project.commit({"lockfiles/bad.txt": PIN + UNPINNED})
    done = project.start(pre_commit(), "run", "--all-files")
    assert done.returncode == 1
    assert "- exit code: 1" in done.stdout
    assert "lockfiles/bad.txt:2" in done.stdout
    assert "lockfiles/good.txt:1" not in done.stdout


def test_it_keeps_a_bad_lock_from_being_committed(project):
    project.run(pre_commit(), "install")
    (project.folder / "lockfiles/bad.txt").write_text(PIN + UNPINNED, encoding="utf-8")
    project.run("git", "add", "--all")
    done = project.start("git", "commit", "--message", "x")
    assert done.returncode == 1
    assert "lockfiles/bad.txt:2" in done.stdout + done.stderr
    assert "bad.txt" not in project.run("git", "ls-tree", "-r", "--name-only", "HEAD")
