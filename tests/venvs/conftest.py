"""Real venvs: made by `python -m venv`, filled by real pip and uv from wheels that the tests generate, no network."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from doctor import Doctor

from envdoctor.wheels import Wheel

KEEP = ("PATH", "HOME", "LANG", "TMPDIR", "XDG_STATE_HOME")
KEPT = {name: value for name, value in os.environ.items() if name in KEEP}
QUIET = ("--quiet", "--disable-pip-version-check")
PYPROJECT = """\
[project]
name = "{name}"
version = "{version}"
dependencies = {requires}
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
BACKEND = """\
import pathlib, shutil
def build_editable(folder, config_settings=None, metadata_directory=None):
    (wheel,) = pathlib.Path("prepared").glob("*.whl")
    shutil.copy(wheel, folder)
    return wheel.name
"""
"""A build backend (PEP 660) that needs nothing from an index."""
OFFLINE = ("--no-index", "--no-cache-dir", "--no-compile")


def perform(*argv, env=None):
    """Run a process that must succeed."""
    done = subprocess.run(argv, env=KEPT | (env or {}), stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert done.returncode == 0, f"{argv}\n{done.stdout.decode()}\n{done.stderr.decode()}"


def uv():
    """Return the uv that lies beside the Python that runs the tests, else the one on PATH."""
    found = shutil.which("uv", path=os.path.dirname(sys.executable)) or shutil.which("uv")
    if found is None:
        pytest.fail("uv is not installed beside the tests: nox -s tests_venv brings it")
    return found


@dataclass(frozen=True)
class Venv:
    """A venv in its project, and how it is filled."""

    project: Path
    wheelhouse: Path

    perform = staticmethod(perform)
    uv_path = staticmethod(uv)

    @property
    def prefix(self):
        return self.project / ".venv"

    @property
    def python(self):
        return self.prefix / "bin" / "python"

    @property
    def site(self):
        (found,) = self.prefix.glob("lib/python3*/site-packages")
        return found

    @property
    def lock(self):
        return self.project / "lockfiles" / "train.txt"

    def make(self):
        perform(sys.executable, "-m", "venv", "--without-pip", str(self.prefix))

    def pip(self, verb, *arguments, source=None):
        """Run pip of the tests' own environment on this venv, which has none."""
        pip = (sys.executable, "-m", "pip", "--python", str(self.python), verb, *QUIET)
        source = (*OFFLINE, "--find-links", str(source or self.wheelhouse)) if verb == "install" else ("--yes",)
        perform(*pip, *source, *map(str, arguments), env={"PIP_CONFIG_FILE": os.devnull})

    def uv(self, *arguments, mode="copy"):
        """Run `uv pip install` on this venv."""
        cache = ("--cache-dir", str(self.project / f"uv-cache-{mode}"), "--link-mode", mode)
        options = ("--offline", "--no-config", "--no-index", "--find-links", str(self.wheelhouse), "--quiet")
        perform(uv(), "pip", "install", "--python", str(self.python), *cache, *options, *map(str, arguments))

    def sources(self, folder, name, version, requires=()):
        """Write a project that can be installed editable, below this one; return its folder."""
        source = self.project / folder
        (source / "code" / name).mkdir(parents=True)
        (source / "pyproject.toml").write_text(PYPROJECT.format(name=name, version=version, requires=list(requires)))
        (source / "backend.py").write_text(BACKEND)
        files = {f"__editable__.{name}-{version}.pth": f"{source}/code\n"}
        Wheel(name, version, files, requires).build(source / "prepared")
        return source

    def put_back(self, pristine):
        """Restore the venv at its path, links and times as they were."""
        shutil.rmtree(self.prefix, ignore_errors=True)
        shutil.copytree(pristine, self.prefix, symlinks=True)


@pytest.fixture(scope="session")
def uv_path():
    return uv()


@pytest.fixture(scope="session")
def doctor(tmp_path_factory):
    return Doctor(tmp_path_factory.mktemp("doctor"))


@pytest.fixture(scope="session")
def new_venv():
    """Return a function that makes an empty venv in a project folder, to be filled from a wheelhouse."""

    def make(project, wheelhouse, lock=""):
        venv = Venv(Path(project), Path(wheelhouse))
        venv.lock.parent.mkdir(parents=True, exist_ok=True)
        venv.lock.write_text(lock)
        venv.make()
        return venv

    return make
