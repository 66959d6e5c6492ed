"""What a real inductor leaves is counted, and its loss is noticed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from doctor import Doctor

pytestmark = pytest.mark.torch

STEP = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU(), torch.nn.Linear(8, 4))
torch.compile(model)(torch.randn(4, 8)).sum().backward()
"""
TARGET = os.environ.get("ENVDOCTOR_TORCH_TARGET", "")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make the cache once: a step forward and backward."""
    cache = tmp_path_factory.mktemp("inductor") / "cache"
    env = {name: value for name, value in os.environ.items() if not name.startswith(("TORCH", "TRITON", "PYTHON"))}
    argv = [Path(TARGET, "bin", "python"), "-W", "ignore", "-c", STEP]
    subprocess.run(argv, check=True, capture_output=True, env=env | {"TORCHINDUCTOR_CACHE_DIR": str(cache)})
    return cache


@pytest.fixture
def ask(made, tmp_path):
    """Run a command on the target with a copy of the cache."""
    cache = Path(shutil.copytree(made, tmp_path / "cache"))
    doctor = Doctor(tmp_path)

    def run(*words):
        env = {"TORCHINDUCTOR_CACHE_DIR": str(cache)}
        return json.loads(doctor(*words, "--target", TARGET, "--format", "json", env=env).stdout)

    run.cache = cache
    return run


def judged(ask):
    report = ask("check", "--select", "cache/missing", "--select", "cache/shrunken", "--select", "cache/stale")
    return [(finding["probe"], finding["severity"]) for finding in report["findings"]]


def test_keys_devices_and_makers_are_those_of_the_run(ask):
    report = ask("cache", "status")
    (found,) = [cache for cache in report["caches"] if cache["place"]["kind"] == "inductor"]
    assert found["keys"] == {"aotautograd": 1, "fxgraph": 2}
    counts = {(count["kind"], count["device"], count["torch"]): count["keys"] for count in found["counts"]}
    version = report["torch"]
    assert counts["fxgraph", "cpu", version] == 2
    assert counts["aotautograd", "cpu", version] == 1, "its version is that of the graphs with the same sources"
    assert [maker["value"] for maker in found["makers"] if maker["what"] == "torch"] == [version]
    assert found["damage"]["entries"] == []
    assert (found["complete"], found["sampled"]) == (True, True)
    assert {(mark["kind"], mark["device"]): mark["keys"] for mark in report["marks"]}["fxgraph", "cpu"] == 2


def test_what_is_lost_is_noticed(ask):
    assert judged(ask) == []
    kept = min((ask.cache / "fxgraph").glob("*/*"))
    for key in (ask.cache / "fxgraph").glob("*/*"):
        if key != kept:
            shutil.rmtree(key)
    shutil.rmtree(ask.cache / "aotautograd")
    assert judged(ask) == [("cache/shrunken", "warning")]
    shutil.rmtree(ask.cache)
    assert judged(ask) == [("cache/missing", "warning")]
