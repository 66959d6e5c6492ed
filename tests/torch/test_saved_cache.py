"""A cache that a real inductor made, saved, lost and brought back: a fresh process hits, by counters and files."""

import os
import shutil
from pathlib import Path

import pytest
from doctor import Doctor

pytestmark = pytest.mark.torch

STEP = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU(), torch.nn.Linear(8, 4))
torch.compile(model)(torch.randn(4, 8)).sum().backward()
"""


@pytest.fixture(scope="module")
def cold(tmp_path_factory):
    """Make a cache, proving on the way that its first process started cold."""
    folder = tmp_path_factory.mktemp("saved")
    (folder / "step.py").write_text(STEP)
    doctor, target = Doctor(folder), Path(os.environ["ENVDOCTOR_TORCH_TARGET"])
    env = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")}

    def run(command, *words):
        return doctor("cache", command, "--target", target, *words, env=env)

    def step(*options):
        quietly = f"exec python -W ignore {folder}/step.py 2> {folder}/said"
        return run("verify", "--format", "json", *options, "--run", "--", "sh", "-c", quietly)

    answer = step()
    assert (answer.status, answer.report["proven"]) == (1, False)
    assert {"no autograd_cache_hit", "autograd_cache_miss 1"} <= set(answer.report["faults"])
    assert answer.report["counters"]["autograd_cache_saved"] == 1
    assert run("save").status == 0
    return folder, run, step


def test_a_lost_cache_that_is_restored_is_hit(cold):
    folder, run, step = cold
    shutil.rmtree(folder / "cache")
    restored = run("restore", "--latest")
    assert (restored.status, restored.stderr) == (0, "")
    answer = step()
    assert (answer.status, answer.report["faults"]) == (0, [])
    assert answer.report["counters"]["autograd_cache_hit"] == 1


def test_at_another_path_it_is_hit_as_well(cold):
    folder, run, step = cold
    assert run("restore", "--latest", "--to", folder / "other").status == 0
    answer = step("--cache", folder / "other")
    assert (answer.status, answer.report["faults"]) == (0, [])


def test_lost_libraries_come_back_into_a_cache_that_still_counts_hits(cold):
    """All counters say hit while every kernel is built anew: only the new files tell."""
    folder, run, step = cold
    assert run("restore", "--latest", "--to", folder / "cut").status == 0
    for library in (folder / "cut").glob("??/*.so"):
        library.unlink()
    answer = step("--cache", folder / "cut")
    assert answer.status == 1
    (fault,) = answer.report["faults"]
    assert "new file" in fault
    for library in (folder / "cut").glob("??/*.so"):
        library.unlink()
    assert run("restore", "--latest", "--to", folder / "cut").status == 0
    assert step("--cache", folder / "cut").status == 0


def test_what_is_damaged_is_pruned_and_restored(cold):
    folder, run, step = cold
    assert run("restore", "--latest", "--to", folder / "bad").status == 0
    broken = min((folder / "bad").glob("??/*.py"))
    broken.write_bytes(b"")
    os.utime(broken, (1_700_000_000, 1_700_000_000))
    answer = step("--cache", folder / "bad")
    assert answer.report["status"] == 1
    assert "has no attribute 'call'" in (folder / "said").read_text()
    pruned = Doctor(folder)("cache", "prune", "--cache", folder / "bad", "--yes")
    assert (pruned.status, broken.exists()) == (0, False)
    assert run("restore", "--latest", "--to", folder / "bad").status == 0
    assert step("--cache", folder / "bad").status == 0


def test_nothing_of_a_cache_is_stale_for_the_torch_that_made_it(cold):
    folder, run, _ = cold
    assert run("restore", "--latest", "--to", folder / "own").status == 0
    answer = run("prune", "--stale", "--cache", folder / "own")
    assert (answer.status, answer.stdout) == (0, f"{folder}/own: nothing damaged, abandoned or stale\n")
