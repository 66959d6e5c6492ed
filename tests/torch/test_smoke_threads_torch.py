"""Threads that race on a CPU in a real torch: where the flag is masked nothing fails; in older ones each must."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ENVDOCTOR = Path(sys.executable).parent / "envdoctor"
TARGET = os.environ.get("ENVDOCTOR_TORCH_TARGET", "the target")
COLD = "1 thread a device, cold cache"


@pytest.fixture
def smoke(tmp_path):
    """Run it with a TMPDIR that is empty afterwards, and no process left in it."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()

    def run(*options):
        argv = [ENVDOCTOR, "smoke", "--level", "threads", "--target", TARGET, "--devices", "cpu", "--format", "json"]
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(temporary)}
        done = subprocess.run([*argv, *options], capture_output=True, text=True, check=False, env=env, cwd="/")
        assert "Traceback" not in done.stderr
        return done.returncode, json.loads(done.stdout)

    yield run
    assert os.listdir(temporary) == []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            assert os.fsencode(temporary) not in path.read_bytes()


def states(report):
    return {trial["device"]: trial["state"] for trial in report["trials"] if trial["step"] == "smoke/threads"}


@pytest.mark.torch
def test_where_the_flag_is_masked_calls_meet_traces_and_nothing_fails(smoke):
    """The same run shows that a cache filled beforehand has all that the threads look for."""
    status, report = smoke("--per-device", "1", "--states", "cold,warm", "--tries", "1")
    assert (status, report["findings"]) == (0, []), report["findings"]
    assert report["seen"]["flag"].startswith("one for the whole process; it does not count while torch.compile")
    cold, warm = (trial["said"] for trial in report["trials"][1:])
    assert cold.endswith("met another thread's trace")
    assert warm == "1 of 1 not exercised: nothing was traced; everything hit the cache"


@pytest.mark.old_torch
def test_where_it_is_not_a_cold_start_breaks_and_the_guard_and_others_help(smoke):
    status, report = smoke("--per-device", "1", "--states", "cold", "--tries", "1")
    (finding,) = report["findings"]
    assert (status, finding["message"]) == (1, f"{COLD}: the FX error in 1 of 1 try")
    assert finding["evidence"]["each"][0]["flag_shared"]
    for remedy in ("guard", "force", "barrier"):
        status, report = smoke("--per-device", "1", "--states", "cold", "--tries", "1", "--remedy", remedy)
        assert (status, states(report)) == (0, {COLD: "passed"}), (remedy, report["findings"])


@pytest.mark.old_torch
def test_several_threads_a_device_and_a_cache_warm_for_one_device_break_too(smoke):
    status, report = smoke("--per-device", "3", "--states", "partly", "--tries", "1")
    assert status == 1
    assert "the FX error in 1 of 1 try" in report["findings"][0]["message"]
