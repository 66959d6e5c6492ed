"""Threads that race on real GPUs: what must hold whatever the torch; what was seen is in the report of each run."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="no nvidia-smi: no NVIDIA GPU here"),
]
TARGET = os.environ.get("ENVDOCTOR_GPU_TARGET", sys.prefix)
"""An environment with a CUDA build of torch."""


@pytest.fixture
def smoke(tmp_path):
    """Run it with a TMPDIR that is empty afterwards, and no process left in it."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()

    def run(*options):
        argv = [sys.executable, "-m", "envdoctor", "smoke", "--level", "threads", "--target", TARGET, *options]
        env = {**os.environ, "PYTHONPATH": "", "TMPDIR": str(temporary)}
        done = subprocess.run([*argv, "--format", "json"], capture_output=True, text=True, check=False, env=env)
        assert "Traceback" not in done.stderr
        sys.stderr.write(done.stderr)
        return done.returncode, json.loads(done.stdout)

    yield run
    assert os.listdir(temporary) == []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            assert os.fsencode(temporary) not in path.read_bytes() or path.parent.name == str(os.getpid())


@pytest.fixture(scope="module")
def count():
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True).stdout
    return len([line for line in listed.splitlines() if line.startswith("GPU ")])


@pytest.fixture
def two(count):
    """The first two GPUs."""
    if count < 2:
        pytest.skip("threads that race, one a GPU, need two")
    return "0,1"


def results(report):
    """Return the kinds of all findings: none but those of the race may come."""
    return {kind for found in report["findings"] for kind in found["evidence"]["results"]}


def test_threads_that_start_in_turn_meet_traces_though_the_cache_is_warm(smoke, two):
    status, report = smoke("--devices", two, "--per-device", "1", "--states", "warm", "--tries", "2")
    (trial,) = [trial for trial in report["trials"] if trial["step"] == "smoke/threads"]
    assert trial["state"] in ("failed", "passed"), trial
    assert results(report) <= {"fx-error", "stuck-flag"}
    assert "everything hit the cache" in trial["said"]
    assert status == (1 if trial["state"] == "failed" else 0)


@pytest.mark.parametrize("remedy", ["guard", "force", "barrier"])
def test_a_remedy_leaves_nothing_to_find(smoke, two, remedy):
    status, report = smoke(
        "--devices", two, "--per-device", "1", "--states", "warm", "--tries", "2", "--remedy", remedy
    )
    assert (status, report["findings"]) == (0, [])


def test_several_threads_a_gpu_end_whatever_they_do(smoke):
    status, report = smoke("--devices", "0", "--per-device", "3", "--states", "cold", "--tries", "1", "--timeout", "90")
    assert status in (0, 1, 3)
    assert results(report) <= {"deadlock", "hung", "fx-error", "stuck-flag"}
    for finding in report["findings"]:
        for one in finding["evidence"]["each"]:
            assert "failure" not in one or one["stacks"], "an end by the watchdog shows where it was stuck"
