"""Our own locks: the small one is rebuilt by plain pip into an environment that a check finds as the lock says."""

import subprocess
import sys
from pathlib import Path

import pytest
from doctor import Doctor

pytestmark = pytest.mark.torch

LOCK = Path(__file__).parents[2] / "lockfiles/train-cpu.txt"


def test_the_small_lock_rebuilds_and_is_what_a_check_finds(tmp_path):
    prefix = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", prefix], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(prefix / "bin/python"), "install", "--quiet"]
    subprocess.run([*pip, "--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", str(LOCK)], check=True)
    answer = Doctor(tmp_path).check(prefix, "--lock", LOCK)
    assert (answer.status, answer.report["verdict"]) == (0, "healthy"), answer.stdout
    assert answer.report["seen"]["packages"] > 10
    assert Doctor(tmp_path)("lock", "audit", LOCK, "--target", prefix).status == 0
