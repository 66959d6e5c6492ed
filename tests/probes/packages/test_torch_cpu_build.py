"""torch without CUDA: an error where the node or the lock expects one, otherwise a note."""

import pytest
from values import distributions, driver, findings, gpu, lock, torch_build

from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Severity, Unavailable
from envdoctor.probes.packages.torch_cpu_build import check

CPU = torch_build("2.1.0+cpu", None)
NO_DRIVER = Unavailable("no NVIDIA driver on this node")


def judge(build=CPU, node=NO_DRIVER, installed="torch==2.1.0+cpu", **facts):
    return findings(check, distributions=distributions(installed, "pip"), torch_build=build, driver=node, **facts)


def test_gpus_make_it_an_error():
    (found,) = judge(node=driver(gpu(0), gpu(1)))
    assert (found.severity, found.subject) == (Severity.ERROR, "torch")
    assert "the node has 2 NVIDIA GPUs" in found.message
    assert "plain install would change nothing" in found.remedy[-1]


def test_a_locked_cuda_label_makes_it_an_error_and_is_put_back_by_force():
    (found,) = judge(lock=lock("torch==2.1.0+cu121"))
    assert found.severity == Severity.ERROR
    assert "the lock asks for torch 2.1.0+cu121" in found.message
    assert found.remedy[0].endswith("--force-reinstall --no-deps torch==2.1.0+cu121")


def test_nvidias_wheels_beside_a_plain_torch_ask_for_cuda_too():
    pins = ("torch==2.11.0", "nvidia-nccl-cu13==2.28.9", "nvidia-cublas==13.1.0.3")
    (found,) = judge(lock=lock(*pins))
    assert found.severity == Severity.ERROR
    assert "nvidia-nccl-cu13" in found.evidence["locked"]


@pytest.mark.parametrize(
    "pins",
    [
        ("torch==2.1.0",),
        ("torch==2.1.0+cpu", "nvidia-nccl-cu12==2.20", "nvidia-cublas-cu12==12.4"),
        ("torch==2.1.0", "xgboost==3.0", "nvidia-nccl-cu12==2.20"),
        ("nvidia-nccl-cu12==2.20", "nvidia-cublas-cu12==12.4"),
    ],
    ids=["plain", "CPU on purpose", "another package's nccl", "no torch"],
)
def test_a_lock_that_does_not_ask_leaves_it_a_note(pins):
    (found,) = judge(lock=lock(*pins))
    assert (found.severity, found.remedy) == (Severity.NOTE, ())


def test_the_metadata_tells_where_torchs_own_file_does_not():
    (found,) = judge(Unavailable("torch/version.py is not Python"), driver(gpu()))
    assert "torch 2.1.0+cpu is built without CUDA" in found.message
    assert judge(Unavailable("torch is not installed"), driver(gpu()), installed="six==1.0") == []
    assert judge(Unavailable("torch/version.py is not Python"), driver(gpu()), installed="torch==2.1.0") == []


def test_a_driver_without_gpus_and_no_driver_leave_it_a_note():
    assert [found.severity for found in judge() + judge(node=driver())] == [Severity.NOTE] * 2


@pytest.mark.parametrize(
    "build",
    [
        torch_build("2.1.0+cu121", "12.1"),
        TorchBuild("version.py", "2.9.0+rocm6.4", None, "6.4"),
        torch_build("2.9.0+xpu", None),
    ],
    ids=["CUDA", "ROCm", "XPU"],
)
def test_healthy_neighbours(build):
    assert judge(build, node=driver(gpu()), lock=lock("torch==2.1.0+cu121")) == []
