"""`smoke` on a machine with GPUs: what works is green, and each fault that can be made here is told from the others."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="no nvidia-smi: no NVIDIA GPU here"),
]
TARGET = os.environ.get("ENVDOCTOR_GPU_TARGET", sys.prefix)
"""An environment with a CUDA build of torch."""
PYTHON = str(Path(TARGET, "bin", "python"))
HOLD = """
import sys, time, torch
free, _ = torch.cuda.mem_get_info(0)
keep = torch.empty(free - (200 << 20), dtype=torch.uint8, device="cuda:0")
print("held", flush=True)
time.sleep(300)
"""
PTXAS = """#!/bin/sh
case "$1" in
--version) echo "Cuda compilation tools, release 12.8, V12.8.93";;
*) echo "ptxas fatal : stub" >&2; exit 255;;
esac
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """A TMPDIR that is empty again at the end, and no process of ours."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    assert os.listdir(folder) == []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            assert os.fsencode(folder) not in path.read_bytes() or path.parent.name == str(os.getpid())


def smoke(*options, **variables):
    env = {**os.environ, "PYTHONPATH": "", **variables}
    argv = [sys.executable, "-m", "envdoctor", "smoke", "--target", TARGET, "--format", "json", *map(str, options)]
    if "--devices" not in options:
        argv += ["--devices", "0"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=env)
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout)


def only(report, *probes):
    found = report["findings"]
    assert {finding["probe"] for finding in found} == set(probes), found
    return found[0]


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    cache = tmp_path_factory.mktemp("warm") / "cache"
    status, report = smoke("--cache", cache)
    assert status == 0, report["findings"]
    return cache


def test_quick_proves_every_gpu():
    status, report = smoke("--devices", "all")
    assert (status, report["verdict"]) == (0, "healthy"), report["findings"]
    assert {trial["state"] for trial in report["trials"]} == {"passed"}


def test_full_leaves_no_step_out():
    status, report = smoke("--level", "full")
    assert (status, report["skipped"]) == (0, []), report["findings"]
    steps = {trial["step"] for trial in report["trials"]}
    assert {"smoke/toolchain", "smoke/half", "smoke/graphs"} <= steps


def test_a_device_that_is_not_there():
    status, report = smoke("--devices", "99")
    assert status == 1
    assert "so there is no cuda:99" in only(report, "smoke/device")["message"]


def test_a_gpu_that_somebody_fills_is_left_alone_and_if_asked_for_names_him():
    holder = subprocess.Popen([PYTHON, "-c", HOLD], stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"held\n"
        status, report = smoke()
        assert status == 1
        assert f"cuda:0 is used by pid {holder.pid}" in report["findings"][0]["message"]
        argv = [sys.executable, "-m", "envdoctor", "smoke", "--target", TARGET]
        env = {**os.environ, "PYTHONPATH": "", "CUDA_VISIBLE_DEVICES": "0"}
        done = subprocess.run(argv, capture_output=True, text=True, check=False, env=env)
        assert (done.returncode, done.stdout.split("\n")[0]) == (3, "NOT SMOKED")
        assert f"cuda:0 by pid {holder.pid}" in done.stdout
    finally:
        holder.kill()
        holder.communicate()


def test_no_compiler(tmp_path):
    (tmp_path / "ldconfig").symlink_to("/sbin/ldconfig")
    environ = {name: value for name, value in os.environ.items() if name != "CC"}
    argv = [sys.executable, "-m", "envdoctor", "smoke", "--target", TARGET, "--devices", "0", "--format", "json"]
    env = {**environ, "PYTHONPATH": "", "PATH": str(tmp_path)}
    report = json.loads(subprocess.run([*argv, "--level", "full"], capture_output=True, check=False, env=env).stdout)
    finding = only(report, "smoke/compile", "smoke/toolchain")
    assert finding["evidence"]["signature"] == "no-c-compiler"


def test_a_ptxas_that_is_none(tmp_path):
    stub = tmp_path / "ptxas"
    stub.write_text(PTXAS)
    stub.chmod(0o755)
    finding = only(smoke(TRITON_PTXAS_PATH=str(stub))[1], "smoke/compile")
    assert finding["evidence"]["signature"] == "ptxas-failed"
    assert "ptxas fatal : stub" in "\n".join(finding["evidence"]["last_lines"])


def test_a_stub_of_libcuda(tmp_path):
    stubs = Path("/usr/local/cuda/lib64/stubs/libcuda.so")
    if not stubs.exists():
        pytest.skip(f"no {stubs} here")
    (tmp_path / "libcuda.so.1").symlink_to(stubs)
    finding = only(smoke(LD_LIBRARY_PATH=str(tmp_path))[1], "smoke/device")
    assert finding["evidence"]["signature"] == "stub-libcuda"


def test_a_cache_mounted_noexec(tmp_path):
    folder = tmp_path / "noexec"
    folder.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec", "none", folder], check=False, capture_output=True)
    if mount.returncode:
        pytest.skip("no mount can be made here")
    try:
        places = {"TRITON_CACHE_DIR": f"{folder}/t", "TORCHINDUCTOR_CACHE_DIR": f"{folder}/i"}
        finding = only(smoke("--cache", "job", **places)[1], "smoke/compile")
    finally:
        subprocess.run(["umount", folder], check=True)
    assert finding["evidence"]["signature"] == "cache-noexec"


@pytest.mark.parametrize(
    ("pattern", "size"), [("triton/**/*.cubin", 100), ("??/*.py", 0)], ids=["cut cubins", "empty modules"]
)
def test_damaged_entries_are_named(warm, tmp_path, pattern, size):
    cache = Path(shutil.copytree(warm, tmp_path / "cache"))
    for path in cache.glob(pattern):
        os.truncate(path, size)
    finding = only(smoke("--cache", cache)[1], "smoke/compile")
    assert finding["evidence"]["signature"] == "damaged-cache-entry"
    assert str(cache) in finding["evidence"]["entries"][0]


@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGINT])
def test_stopped_in_a_compile(number):
    argv = [sys.executable, "-m", "envdoctor", "smoke", "--target", TARGET, "--devices", "0", "--timeout", "12"]
    env = {**os.environ, "PYTHONPATH": ""}
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    for line in process.stderr:
        if "matmul" in line:
            break
    time.sleep(1)
    began = time.monotonic()
    if number == signal.SIGSTOP:
        subprocess.run(["pkill", "-STOP", "-f", "payloads/smoke/main.py"], check=True)
    else:
        process.send_signal(number)
    out, _ = process.communicate()
    assert process.returncode == (1 if number == signal.SIGSTOP else 130)
    assert time.monotonic() - began < 12 + 3
    assert ("cuda:0: compile hung: no end within 12 s, at " in out) == (number == signal.SIGSTOP)
