"""Pins for two CUDA releases that one environment would get."""

from dataclasses import replace

import pytest
from locked import audited, read, target, told
from values import findings

from envdoctor.model import Severity
from envdoctor.probes.lock.cuda_mix import check

MIXED = """
torch==2.11.0+cu128
nvidia-cublas==13.1.0.3
nvidia-cudnn-cu12==9.10.2.21
cupy-cuda12x==13.6.0
"""
APART = """
torch==2.10.0+cu128 ; platform_machine == 'x86_64'
torch==2.10.0+cu130 ; platform_machine == 'aarch64'
nvidia-nccl-cu12==2.27.5 ; platform_machine == 'x86_64'
nvidia-nccl-cu13==2.28.9 ; platform_machine == 'aarch64'
"""
BY_INDEX = """
version = 1
requires-python = ">=3.12"
[[package]]
name = "demo"
source = { virtual = "." }
dependencies = [{ name = "torch" }, { name = "cupy-cuda13x" }]
[[package]]
name = "torch"
version = "2.9.1"
source = { registry = "https://mirror.example/whl/cu128" }
[[package]]
name = "cupy-cuda13x"
version = "13.6.0"
source = { registry = "https://index.example/simple" }
"""
BY_NEEDS = BY_INDEX.replace("mirror.example/whl/cu128", "index.example/simple").replace(
    'version = "2.9.1"',
    'version = "2.9.1"\ndependencies = [{ name = "nvidia-nccl-cu12" }]',
)
BY_NEEDS += '[[package]]\nname = "nvidia-nccl-cu12"\nversion = "2.27.5"\nsource = { registry = "https://x.example" }\n'
VENDOR = BY_NEEDS.replace('"2.9.1"', '"2.9.1+vendor.1"')


def test_a_wheel_of_another_major_than_torchs():
    (finding,) = found = audited(check, MIXED)
    assert (finding.severity, told(found)) == (Severity.ERROR, [("nvidia-cublas", 2)])
    assert "nvidia-cublas is for CUDA 13, torch 2.11.0+cu128 for CUDA 12.8" in finding.message
    assert finding.evidence["beside"] == {"torch": 1}


def test_each_package_of_another_major_is_one_finding():
    found = audited(check, MIXED + "nvidia-cufft==12.0.0.61\ncuda-toolkit==13.0.2\n")
    assert told(found) == [("nvidia-cublas", 2), ("nvidia-cufft", 5), ("cuda-toolkit", 6)]


def test_a_torch_without_label_is_what_the_package_index_has():
    line = "cupy-cuda12x==13.6.0\n"
    (finding,) = audited(check, "torch==2.11.0\n" + line)
    assert "torch 2.11.0 for CUDA 13 (" in finding.message
    assert audited(check, "--index-url https://vendor.example/simple\ntorch==2.11.0\n" + line) == []
    assert audited(check, "torch==2.99.0\n" + line) == []


def test_without_torch_the_fewer_are_at_fault():
    found = audited(check, "cupy-cuda12x==13.6.0\nnvidia-nccl-cu13==2.28.9\nnvidia-cublas==13.1.0.3\n")
    assert told(found) == [("cupy-cuda12x", 1)]


def test_a_comment_that_torch_asks_for_a_wheel_tells_its_cuda():
    lock = read("--index-url https://v.example/simple\ntorch==2.9.1\ncupy-cuda13x==13.6.0\nnvidia-nccl-cu12==2.27.5\n")
    asked = tuple(replace(pin, via=("torch",)) if pin.name.startswith("nvidia") else pin for pin in lock.packages)
    (finding,) = findings(check, lock=replace(lock, packages=asked), lock_targets=target())
    assert "torch 2.9.1 for CUDA 12 " in finding.message


def test_a_vendors_label_says_nothing_and_that_of_a_cpu_build_all():
    assert "2.9.1+vendor.1 for CUDA 12 " in audited(check, VENDOR, "/project/uv.lock")[0].message
    assert "torch" not in audited(check, VENDOR.replace("+vendor.1", "+cpu"), "/project/uv.lock")[0].message


@pytest.mark.parametrize(("lock", "cuda"), [(BY_INDEX, "12.8"), (BY_NEEDS, "12")], ids=["index", "needs"])
def test_torchs_index_and_what_it_needs_tell_its_cuda(lock, cuda):
    (finding,) = audited(check, lock, "/project/uv.lock")
    assert finding.subject == "cupy-cuda13x"
    assert f"torch 2.9.1 for CUDA {cuda} " in finding.message


def test_another_minor_is_a_warning():
    (finding,) = found = audited(check, "torch==2.11.0+cu128\nvllm==0.26.0+cu129\n")
    assert (finding.severity, told(found)) == (Severity.WARNING, [("vllm", 2)])
    assert finding.message == "vllm 0.26.0+cu129 is for CUDA 12.9, torch 2.11.0+cu128 for CUDA 12.8"
    assert told(audited(check, "torch==2.11.0+cu128\ncuda-toolkit==12.9.1\n")) == [("cuda-toolkit", 2)]


def test_all_entries_of_a_package_are_one_finding():
    vllm = "vllm==0.26.0+cu129 ; platform_machine {} 'x86_64'\n"
    (finding,) = audited(check, vllm.format("!=") + "torch==2.11.0+cu128\n" + vllm.format("=="))
    assert (finding.evidence["line"], finding.evidence["lines"]) == (1, [1, 3])


@pytest.mark.parametrize(("name", "severity"), [("torchvision", "warning"), ("torchaudio", "error")])
def test_companions_are_judged_as_when_installed(name, severity):
    (finding,) = audited(check, f"torch==2.6.0+cu124\n{name}==2.6.0+cu126\n")
    assert finding.severity.label == severity


@pytest.mark.parametrize(
    "text",
    [
        APART,
        "torch==2.11.0+cu128\nnvidia-nccl-cu12==2.27.5\ncuda-toolkit==12.8.1\nnvidia-cufft-cu12==11.3.3.83\n",
        "torch==2.11.0+cu128\ncuda-bindings==13.0.3\ncuda-python==13.0.3\n",
        "torch==2.11.0+cu128\njax-cuda12-plugin==0.8\njax-cuda13-plugin==0.8\n",
        "torch==2.11.0+cu128\nnvidia-ml-py==13.580.82\nnvidia-cutlass-dsl-libs-cu13==4.3\nnvidia-cudnn-frontend==1.18\n",
        "torch==2.11.0+cpu\nsix==1.17.0\n",
        "torch==2.11.0+cu128\nflash-attn==2.8.3+cu13torch2.11\n",
    ],
    ids=["machines apart", "one major", "helpers", "jax plugins", "no runtimes", "cpu", "an extension's label"],
)
def test_healthy_neighbours(text):
    assert audited(check, text) == []
