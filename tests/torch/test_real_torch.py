"""`check` and `seal` on a target with a real torch, its prefix given by the session that made it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch

ENVDOCTOR = Path(sys.executable).parent / "envdoctor"


@pytest.fixture(scope="module")
def target():
    return Path(os.environ["ENVDOCTOR_TORCH_TARGET"])


@pytest.fixture(autouse=True)
def unsealed(target):
    shutil.rmtree(target / ".envdoctor", ignore_errors=True)
    yield
    shutil.rmtree(target / ".envdoctor", ignore_errors=True)


def check(target, *options):
    argv = [ENVDOCTOR, "check", "--target", target, "--format", "json", *options]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_", "VIRTUAL_ENV"))}
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=env)
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout)


def locked(target, tmp_path, **versions):
    """Lock what is installed, with other versions for some."""
    lock = tmp_path / "requirements.txt"
    pins = []
    for info in target.glob("lib/python*/site-packages/*.dist-info"):
        name, version = info.name.removesuffix(".dist-info").rsplit("-", 1)
        digest = hashlib.sha256(info.name.encode()).hexdigest()
        pins.append(f"{name}=={versions.get(name, version)} --hash=sha256:{digest}")
    lock.write_text("\n".join(pins) + "\n")
    return lock


def test_a_real_torch_is_healthy_and_its_build_is_read_from_its_files(target, tmp_path):
    status, report = check(target, "--lock", locked(target, tmp_path))
    assert (status, report["verdict"]) == (0, "healthy"), report["findings"]
    assert report["seen"]["torch"].startswith("2.13.0")
    assert report["seen"]["files"] > 10_000


def test_the_locked_cuda_build_is_not_the_cpu_build_that_is_there(target, tmp_path):
    status, report = check(target, "--lock", locked(target, tmp_path, torch="2.13.0+cu130"))
    assert status == 1
    (finding,) = [finding for finding in report["findings"] if finding["probe"] == "packages/drifted"]
    assert finding["subject"] == "torch"
    assert finding["evidence"]["locked"] == "2.13.0+cu130"


def test_an_edit_of_torch_with_its_time_set_back_is_seen_through_the_seal(target, tmp_path):
    lock = locked(target, tmp_path)
    subprocess.run([ENVDOCTOR, "seal", "--target", target, "--lock", lock], check=True, capture_output=True)
    assert check(target)[1]["verdict"] == "healthy"
    (source,) = target.glob("lib/python*/site-packages/torch/functional.py")
    before, times = source.read_bytes(), source.stat()
    try:
        source.write_bytes(before[:-1] + b" ")
        os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
        status, report = check(target)
        assert status == 1
        (finding,) = [finding for finding in report["findings"] if finding["severity"] == "error"]
        assert (finding["probe"], finding["evidence"]["paths"]) == ("packages/altered-file", ["torch/functional.py"])
    finally:
        source.write_bytes(before)
        os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert check(target)[1]["verdict"] == "healthy"
