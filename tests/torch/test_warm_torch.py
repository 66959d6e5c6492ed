"""`envdoctor warm` with a real inductor: what is complete is proven, and what is not is told for what it is."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from doctor import Doctor

from envdoctor import hooks

pytestmark = pytest.mark.torch

JOB = """
import torch
from torch import nn

def train(model):
    torch.compile(model)(torch.randn(4, 8)).sum().backward()

def whole(device):
    assert device == torch.device("cpu")
    train(nn.Sequential(nn.Linear(8, 8), nn.GELU()))
    train(nn.Linear(8, 6))
    part()

def part():
    with torch.no_grad():
        torch.compile(nn.Linear(8, 2))(torch.randn(4, 8))

def forward():
    torch.compile(nn.Linear(8, 5))(torch.randn(4, 8)).sum()

def nothing():
    nn.Linear(8, 5)(torch.randn(4, 8)).sum().backward()
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """Warm a cache wholly, and return what asks for more."""
    folder = tmp_path_factory.mktemp("warm")
    (folder / "job.py").write_text(JOB)
    doctor, target = Doctor(folder, within=300), Path(os.environ["ENVDOCTOR_TORCH_TARGET"])

    def run(*words):
        return doctor(*words, "--target", target, env={"TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")})

    def warm(entry, *words):
        return run("warm", "--entry", f"job:{entry}", "--devices", "cpu", "--format", "json", *words)

    run.cache, run.warm, run.first = folder / "cache", warm, warm("whole")
    return run


def faults(answer):
    (device,) = answer.report["devices"]
    return [fault["kind"] for fault in device["faults"]]


def test_training_and_inference_are_warm_and_their_keys_are_the_mark(job):
    (device,) = job.first.report["devices"]
    assert (job.first.status, device["faults"]) == (0, [])
    assert device["new_keys"] == {"aotautograd": 3, "fxgraph": 5}
    assert device["warm_up"]["counters"]["autograd_cache_saved"] == 3
    assert device["proof"]["counters"]["autograd_cache_hit"] == 3
    marks = job("cache", "status", "--no-state").stdout.partition("marks:")[2]
    assert "in all          3 aotautograd, 5 fxgraph" in marks


def test_the_choice_of_the_device_waits_for_cuda(tmp_path):
    """It lies in torch's own queue, the last of all, and nothing is initialised for it."""
    code = "import torch; print(torch.cuda._queued_calls[-1][0].__module__, torch.cuda.is_initialized())"
    env = {"PYTHONPATH": hooks.COUNTERS, "ENVDOCTOR_DEVICE": "cuda:1"}
    argv = [Path(os.environ["ENVDOCTOR_TORCH_TARGET"], "bin/python"), "-c", code]
    done = subprocess.run(argv, env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "sitecustomize False\n"


def test_a_forward_pass_alone_is_called_so(job):
    answer = job.warm("forward", "--no-state")
    assert (answer.status, faults(answer)) == (1, ["forward-only"])


def test_what_compiles_nothing_fails(job):
    answer = job.warm("nothing", "--no-state")
    assert (answer.status, faults(answer)) == (1, ["empty"])


def test_a_part_fails_against_the_mark(job):
    shutil.rmtree(job.cache / "aotautograd")
    answer = job.warm("part", "--no-state")
    assert (answer.status, faults(answer)) == (1, ["partial"])
    assert "1 of 3 aotautograd keys that were there once" in answer.stdout
