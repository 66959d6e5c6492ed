"""Locks for a CUDA major that the node's driver does not run."""

import pytest
from locked import audited, read, target, told
from values import driver, judged

from envdoctor.facts.driver import Library
from envdoctor.model import Severity, Unavailable
from envdoctor.probes.lock.driver_too_old import check

COMPAT = Library("/usr/local/cuda-13.0/compat/libcuda.so.1", "580.65.06", "LD_LIBRARY_PATH", "compat")
VENDOR = "--index-url https://vendor.example/simple\ntorch==2.11.0\n"
OLD = {"version": "535.183.01", "cuda": (12, 2)}


def judge(text, **fields):
    return audited(check, text, lock_targets=target(), driver=driver(**(OLD | fields)))


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("torch==2.11.0+cu130\n", "torch"),
        ("torch==2.11.0\ncuda-toolkit==13.0.2\nnvidia-cuda-runtime==13.0.96\n", "torch"),
        (f"{VENDOR}cuda-toolkit==13.0.2\nnvidia-cuda-runtime==13.0.96\n", "cuda-toolkit"),
    ],
    ids=["label", "as the package index has it", "wheels beside a vendor's"],
)
def test_below_the_floor(text, subject):
    (finding,) = judge(text)
    assert (finding.severity, finding.subject) == (Severity.ERROR, subject)
    assert "and needs driver 580 or newer; the node has 535.183.01" in finding.message
    assert finding.evidence["source"]


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("torch==2.11.0+cu128\n", {}),
        ("torch==2.11.0+cu130\n", {"version": "580.95.05", "cuda": (13, 0)}),
        ("torch==2.11.0+cu130\n", {"libcuda": (COMPAT,)}),
        ("torch==2.11.0+cpu\nnvidia-nccl-cu13==2.28.9\nnvidia-cublas==13.1\n", {}),
        (f"{VENDOR}nvidia-nccl-cu13==2.28.9\n", {}),
        ("cupy-cuda13x==13.6.0\nnvidia-cublas==13.1\n", {}),
    ],
    ids=["a newer minor", "newer driver", "carried", "CPU", "one wheel alone", "no torch"],
)
def test_healthy_neighbours(text, fields):
    assert judge(text, **fields) == []


def test_without_a_driver_it_is_skipped():
    outcome = judged(check, lock=read("torch==2.11.0+cu130\n"), driver=Unavailable("no driver"))
    assert outcome.skipped == Unavailable("no driver")
    assert told(judge("torch==2.11.0+cu130\n")) == [("torch", 1)]
