"""Locks made by real pip-tools and real uv from generated wheels, and installed again by plain pip."""

import ensurepip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from doctor import Doctor

from envdoctor import locks
from envdoctor.locks import header
from envdoctor.wheels import Wheel

pytestmark = pytest.mark.venv

RESOLVERS = ("pip-tools", "uv")
OLD = Wheel("lab-tools", "1.0", {"lab_tools.py": ""})
NEW = Wheel("lab-tools", "1.1", {"lab_tools.py": ""}, ("lab-core",))
CORE = Wheel("lab-core", "3.0", {"lab_core.py": ""})
LATER = Wheel("lab-core", "3.1", {"lab_core.py": ""})
LABELLED = Wheel("lab-torch", "2.11.0+cu128", {"lab_torch/__init__.py": ""}, ("lab-core<3.1",))
OTHER = Wheel("lab-torch", "2.11.0+cpu", {"lab_torch/__init__.py": ""})
FAR = Wheel("lab-far", "1.0", {"lab_far.py": ""}, tag="cp313-cp313-manylinux_2_28_aarch64")
FREED = Wheel("setuptools", "81.0.0", {"setuptools/__init__.py": ""})
WHEELS = (OLD, NEW, CORE, LABELLED, OTHER, FAR, FREED)


class Lab:
    """A project, an index that is a directory, and a pip that is configured for it and nothing else."""

    def __init__(self, folder):
        self.folder = folder / "project"
        self.wheelhouse = folder / "wheelhouse"
        self.folder.mkdir()
        for wheel in WHEELS:
            wheel.build(self.wheelhouse)
        self.config = folder / "pip.conf"
        self.config.write_text(f"[global]\nno-index = true\nfind-links = {self.wheelhouse}\n")
        self.env = {"PIP_CONFIG_FILE": str(self.config), "UV_CACHE_DIR": str(folder / "uv-cache")}
        self.doctor = Doctor(folder)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def lock(self, *words):
        return self.doctor("lock", *words, cwd=self.folder, env=self.env)

    def pins(self, name):
        return {package.name: package.version for package in locks.read(str(self.folder / name)).packages}

    def text(self, name):
        return (self.folder / name).read_text()

    def venv(self, name):
        """Make a venv with a pip of its own, without a network."""
        self.perform(sys.executable, "-m", "venv", "--without-pip", self.folder / name)
        return self.folder / name / "bin" / "python"

    def pip(self, python, *words):
        pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
        return self.perform(*pip, *words)

    def installed(self, python):
        listed = json.loads(self.pip(python, "list", "--format", "json"))
        return {one["name"]: one["version"] for one in listed}

    def perform(self, *argv):
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder)} | self.env
        done = subprocess.run([*map(str, argv)], env=env, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path)


@pytest.mark.parametrize("resolver", RESOLVERS)
def test_everything_is_pinned_and_hashed_and_nothing_tells_of_this_machine(lab, resolver):
    lab.write("train.in", "lab-tools\nsetuptools\n")
    answer = lab.lock("compile", "train.in", "--resolver", resolver)
    assert answer.status == 0, answer.stderr
    text = lab.text("train.txt")
    assert text.endswith(
        f"lab-core==3.0 \\\n    --hash=sha256:{CORE.sha256}\n    # via lab-tools\n"
        f"lab-tools==1.1 \\\n    --hash=sha256:{NEW.sha256}\n    # via -r train.in\n"
        f"setuptools==81.0.0 \\\n    --hash=sha256:{FREED.sha256}\n    # via -r train.in\n"
    )
    assert str(lab.folder.parent) not in text
    assert header.parse(text).resolver.startswith(f"{resolver} ")
    python = lab.venv("again")
    lab.pip(python, "install", "--require-hashes", "-r", lab.folder / "train.txt")
    assert lab.installed(python) == {"lab-core": "3.0", "lab-tools": "1.1", "setuptools": "81.0.0"}


@pytest.mark.parametrize("resolver", RESOLVERS)
def test_the_command_in_the_header_makes_the_same_lock(lab, resolver):
    lab.write("train.in", "lab-tools\n")
    assert lab.lock("compile", "train.in", "--resolver", resolver).status == 0
    text = lab.text("train.txt")
    (lab.folder / "train.txt").unlink()
    words = header.parse(text).command.split()
    assert (lab.lock(*words[2:]).status, lab.text("train.txt")) == (0, text)


@pytest.mark.parametrize("resolver", RESOLVERS)
def test_pins_stay_until_they_are_asked_to_move_and_hashes_are_new(lab, resolver):
    lab.write("train.in", "lab-tools\n")
    assert lab.lock("compile", "train.in", "--resolver", resolver).status == 0
    lab.write("train.txt", lab.text("train.txt").replace(CORE.sha256, "0" * 64))
    LATER.build(lab.wheelhouse)
    assert lab.lock("compile", "train.in").status == 0
    assert (lab.pins("train.txt")["lab-core"], CORE.sha256 in lab.text("train.txt")) == ("3.0", True)
    assert "0" * 64 not in lab.text("train.txt")
    upgraded = lab.lock("compile", "train.in", "--upgrade-package", "lab-core")
    assert (upgraded.status, "moved lab-core 3.0 -> 3.1\n" in upgraded.stdout) == (0, True)
    assert lab.pins("train.txt") == {"lab-tools": "1.1", "lab-core": "3.1"}


@pytest.mark.parametrize("resolver", RESOLVERS)
def test_no_solution_is_a_finding_and_leaves_the_old_lock(lab, resolver):
    lab.write("train.in", "lab-tools\n")
    assert lab.lock("compile", "train.in", "--resolver", resolver).status == 0
    text = lab.text("train.txt")
    lab.write("train.in", "lab-core==9\n")
    answer = lab.lock("compile", "train.in")
    assert (answer.status, answer.stdout, lab.text("train.txt")) == (1, "", text)
    assert "lab-core==9" in answer.stderr
    assert answer.stderr.splitlines()[-1].endswith("finds no solution")


def test_another_platform_is_work_for_uv_alone(lab):
    lab.write("train.in", "lab-far\n")
    far = ("--python", "3.13", "--platform", "manylinux_2_28_aarch64")
    answer = lab.lock("compile", "train.in", *far, "--resolver", "pip-tools")
    assert (answer.status, answer.stdout) == (2, "")
    assert "use --resolver uv" in answer.stderr
    assert lab.lock("compile", "train.in", *far).status == 0
    assert header.parse(lab.text("train.txt")).platform == "manylinux_2_28_aarch64"


def test_a_pylock_of_files_on_this_machine_is_refused(lab):
    lab.write("train.in", "lab-tools\n")
    answer = lab.lock("compile", "train.in", "--format", "pylock")
    assert answer.status == 1
    assert "holds a path of this machine" in answer.stderr
    assert not (lab.folder / "pylock.train.toml").exists()


def test_an_environment_is_locked_and_rebuilt_equal_by_plain_pip(lab):
    python = lab.venv("old")
    pip = Path(ensurepip.__file__).parent / "_bundled"
    for wheel in pip.glob("pip-*.whl"):
        (lab.wheelhouse / wheel.name).write_bytes(wheel.read_bytes())
    lab.pip(python, "install", "lab-tools==1.1", "lab-torch==2.11.0+cu128", "setuptools", "pip")
    answer = lab.lock("from-target", "--target", lab.folder / "old", "-o", "now.txt")
    assert (answer.status, answer.stdout) == (0, "now.txt: 5 packages locked\n"), answer.stderr
    assert lab.pins("now.txt")["lab-torch"] == "2.11.0+cu128"
    assert OTHER.sha256 not in lab.text("now.txt")
    assert str(lab.folder.parent) not in lab.text("now.txt")
    again = lab.venv("again")
    lab.pip(again, "install", "--require-hashes", "-r", lab.folder / "now.txt")
    assert lab.installed(again) == lab.installed(python)


def test_what_the_index_does_not_have_is_listed_and_not_guessed(lab):
    python = lab.venv("old")
    lab.pip(python, "install", "lab-tools==1.0", lab.wheelhouse / LABELLED.filename)
    for wheel in (OLD, NEW):
        (lab.wheelhouse / wheel.filename).unlink()
    answer = lab.lock("from-target", "--target", lab.folder / "old", "-o", "now.txt")
    assert answer.status == 1
    assert answer.stdout == (
        "now.txt: 1 packages locked\n"
        "not locked: lab-tools 1.0: the index does not have this release for the environment's Python and platform\n"
        "not locked: lab-torch 2.11.0+cu128: installed from a local file or directory\n"
    )
    assert lab.pins("now.txt") == {"lab-core": "3.0"}


def test_a_dry_run_tells_online_whether_the_pins_are_all(lab):
    """lab-tools 1.1 requires lab-core, and lab-torch one below 3.1, of which the directory index has 3.0."""
    for text, rule, subject in (
        ("lab-tools==1.1\n", "lock/incomplete", "lab-core"),
        ("lab-torch==2.11.0+cu128\nlab-core==3.1\n", "lock/broken-requirement", "lab-torch"),
    ):
        LATER.build(lab.wheelhouse)
        lab.write("lock.txt", text)
        stated = ("--python", "3.11", "--platform", "manylinux_2_28_x86_64", "--online", "--format", "json")
        (finding,) = lab.lock("audit", "lock.txt", *stated).findings(rule)
        assert finding["subject"] == subject
    lab.write("lock.txt", "lab-tools==1.1\nlab-core==3.0\n")
    answer = lab.lock("audit", "lock.txt", *stated)
    assert {"lock/incomplete", "lock/broken-requirement"} <= set(answer.report["passed"])
