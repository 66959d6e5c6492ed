"""A torch without CUDA where the lock, or the node, asks for CUDA."""

import pytest
from locked import audited, told
from values import driver, gpu

from envdoctor.model import Severity, Unavailable
from envdoctor.probes.lock.cpu_build import check

NO_DRIVER = Unavailable("no driver")
CPU = "--index-url https://x.example/whl/cpu\ntorch==2.11.0+cpu\ntorchvision==0.26.0+cpu\n"
BY_INDEX = """
version = 1
[[package]]
name = "demo"
source = { virtual = "." }
dependencies = [{ name = "torch" }, { name = "flash-attn" }]
[[package]]
name = "torch"
version = "2.9.1"
source = { registry = "https://x.example/whl/cpu" }
[[package]]
name = "flash-attn"
version = "2.8.3+cu12torch2.9"
source = { registry = "https://x.example/simple" }
"""
EXTRAS = """
version = 1
[[package]]
name = "demo"
source = { virtual = "." }
[package.optional-dependencies]
cpu = [{ name = "torch", version = "2.9.1+cpu", source = { registry = "https://x.example/whl/cpu" } }]
gpu = [{ name = "torch", version = "2.9.1+cu128", source = { registry = "https://x.example/whl/cu128" } }]
[[package]]
name = "torch"
version = "2.9.1+cpu"
source = { registry = "https://x.example/whl/cpu" }
[[package]]
name = "torch"
version = "2.9.1+cu128"
source = { registry = "https://x.example/whl/cu128" }
"""
MAC = """
torch==2.9.1+cpu ; sys_platform == 'darwin'
torch==2.9.1+cu128 ; sys_platform != 'darwin'
flash-attn==2.8.3+cu12torch2.9
"""


def judge(text, path="/project/requirements.txt", node=NO_DRIVER):
    return audited(check, text, path, driver=node)


@pytest.mark.parametrize(
    "line",
    ["flash-attn==2.8.3+cu12torch2.11\n", "nvidia-cublas-cu12==12.8.4.1\nnvidia-nccl-cu12==2.27.5\n"],
    ids=["a CUDA build", "NVIDIA's wheels"],
)
@pytest.mark.parametrize("label", ["cpu", "rocm6.4", "xpu"])
def test_beside_what_asks_for_cuda(line, label):
    (finding,) = found = judge(f"torch==2.11.0+{label}\n{line}")
    assert (finding.severity, told(found)) == (Severity.ERROR, [("torch", 1)])
    assert f"is built without CUDA ({label})" in finding.message
    assert line.split("==")[0] in finding.message


def test_a_companion_beside_a_cuda_torch():
    assert told(judge("torch==2.11.0+cu128\ntorchvision==0.26.0+cpu\n")) == [("torchvision", 2)]


def test_the_index_tells_where_the_label_does_not():
    (finding,) = judge(BY_INDEX, "/project/uv.lock")
    assert (finding.subject, finding.evidence["text"]) == ("torch", "cpu")


def test_a_node_with_gpus_asks_too():
    found = judge(CPU, node=driver(gpu(0)))
    assert told(found) == [("torch", 2), ("torchvision", 3)]
    assert "the node has 1 NVIDIA GPU (" in found[0].message


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (CPU, "/project/requirements.txt"),
        (CPU + "xgboost==3.0\nnvidia-nccl-cu12==2.27.5\n", "/project/requirements.txt"),
        (EXTRAS, "/project/uv.lock"),
        ("torch==2.9.1+cpu ; sys_platform == 'win32'\ntorch==2.9.1+cu128 ; sys_platform == 'linux'\n", "/p/r.txt"),
        ("torch==2.11.0+cu128\ntorchcodec==0.8.0\n", "/p/r.txt"),
        (MAC, "/p/r.txt"),
    ],
    ids=["for the CPU", "another package's nccl", "extras apart", "systems apart", "all CUDA", "macOS"],
)
def test_healthy_neighbours(text, path):
    assert judge(text, path) == []
