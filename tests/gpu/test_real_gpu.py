"""On a machine with GPUs: what NVML says agrees with nvidia-smi, a holder is seen and is gone, nothing is disturbed."""

import csv
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="no nvidia-smi: no NVIDIA GPU here"),
]
PYTHON = str(Path(os.environ.get("ENVDOCTOR_GPU_TARGET", sys.prefix), "bin", "python"))
HOLD = """
import time, torch
held = torch.empty(1 << 30, dtype=torch.uint8, device="cuda:0")
print("held", flush=True)
time.sleep(120)
"""


def smi(fields):
    argv = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
    text = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
    return [[cell.strip() for cell in row] for row in csv.reader(text.splitlines())]


def check(*options):
    argv = [sys.executable, "-m", "envdoctor", "check", "--target", sys.prefix, "--format", "json", *options]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": ""})
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def test_nvml_agrees_with_nvidia_smi():
    from envdoctor.facts import driver
    from envdoctor.model import Target
    from envdoctor.system.host import LocalHost

    found = driver.collect(Target(sys.prefix, sys.executable), LocalHost())
    rows = smi("index,uuid,name,driver_version,compute_cap")
    assert found.problem is None
    assert found.version == rows[0][3]
    seen = [[str(gpu.index), gpu.uuid, gpu.name, ".".join(map(str, gpu.capability))] for gpu in found.gpus]
    assert seen == [[index, uuid, name, capability] for index, uuid, name, _, capability in rows]


def test_an_untouched_machine_has_no_fault_of_driver_or_gpu():
    report = check("--select", "cuda/driver", "--select", "cuda/gpu-missing", "--select", "node/gpu-errors")
    assert report["findings"] == []
    assert report["crashed"] == []
    assert report["failed"] == []


def test_a_check_holds_no_gpu():
    before = smi("memory.used")
    check("--select", "cuda", "--select", "node")
    assert smi("memory.used") == before


def test_a_holder_is_busy_and_its_end_is_seen():
    if subprocess.run([PYTHON, "-c", "import torch"], check=False, capture_output=True).returncode:
        pytest.skip("ENVDOCTOR_GPU_TARGET names no environment with torch")
    holder = subprocess.Popen([PYTHON, "-c", HOLD], stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"held\n"
        (finding,) = check("--select", "node/busy-gpu")["findings"]
        assert (finding["severity"], str(holder.pid) in json.dumps(finding)) == ("warning", True)
    finally:
        holder.kill()
        holder.communicate()
    time.sleep(2)
    assert check("--select", "node")["findings"] == []
