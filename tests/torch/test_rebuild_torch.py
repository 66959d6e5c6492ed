"""Our own lock, with a torch for the CPU added: made, contaminated, made anew, smoked, and the way back and forth."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from doctor import Answer, Doctor

from envdoctor.wheels import Wheel

pytestmark = pytest.mark.torch

LOCK = Path(__file__).parents[2] / "lockfiles/train-cpu.txt"
TORCH = "torch==2.13.0"
WITHIN = 900
"""Seconds for one rebuild: torch is fetched, installed and compiles C++."""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rebuilt")
    (folder / "pyproject.toml").write_text('[project]\nname = "trainer"\nversion = "1"\n')
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / ".venv"], check=True)
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*fetch, "--dest", folder / "wheels", TORCH], check=True)
    (wheel,) = (folder / "wheels").iterdir()
    with open(wheel, "rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    pin = f"torch=={wheel.name.split('-')[1]} --hash=sha256:{digest}\n"
    (folder / "train.txt").write_text(LOCK.read_text() + pin)
    return folder


def run(project, *words, **variables):
    """Run the doctor with the indexes of this machine, which torch comes from, and a store of its own."""
    doctor = Doctor(project)
    own = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_"))}
    home = {"HOME": os.environ.get("HOME", str(project)), "XDG_CACHE_HOME": str(project / "cache")}
    env = doctor.environment(**own, **home, XDG_STATE_HOME=str(project / "state"), **variables)
    command = [sys.executable, "-m", "envdoctor", *words, "--target", str(project / ".venv")]
    done = subprocess.run(command, env=env, cwd=project, capture_output=True, text=True, timeout=WITHIN, check=False)
    assert "Traceback" not in done.stderr
    return Answer(done.returncode, done.stdout, done.stderr)


def has(project, name):
    return bool(list((project / ".venv").glob(f"lib/python3*/site-packages/{name}")))


def test_contaminated_clean_contaminated_clean(project):
    rebuild = ("rebuild", "--find-links", "wheels", "--lock", "train.txt", "--yes")
    first = run(project, *rebuild, "--installer", "pip", "--smoke", "none")
    assert first.status == 0, first.stderr
    bad = Wheel("sglang", "0.5.9", {"sglang/__init__.py": ""}).build(project / "bad")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(project / ".venv/bin/python"),
        "install",
        "--quiet",
        "--no-index",
    ]
    subprocess.run([*pip, "--no-deps", bad], check=True)
    assert has(project, "sglang")

    second = run(project, *rebuild, "--installer", "uv")
    assert second.status == 0, second.stderr
    assert "smoke: quick on the CPU, as torch 2.13.0+cpu is built without CUDA: all" in second.stdout
    assert "C++ kernels" in second.stdout
    assert not has(project, "sglang")
    answer = Doctor(project).check(project / ".venv")
    assert (answer.status, answer.report["verdict"]) == (0, "healthy"), answer.stdout

    assert run(project, "rollback").status == 0
    assert has(project, "sglang")
    forward = run(project, "rollback")
    assert (forward.status, has(project, "sglang")) == (0, False), forward.stderr
