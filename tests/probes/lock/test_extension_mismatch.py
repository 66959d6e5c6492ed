"""Compiled extensions whose label speaks of another torch."""

import pytest
from locked import audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.extension_mismatch import check

TORCH = "torch==2.11.0+cu130\n"
FILE = "flash_attn-2.8.3+cu130torch2.10-cp312-cp312-linux_x86_64.whl"
RENAMED = f"""
version = 1
[[package]]
name = "demo"
source = {{ virtual = "." }}
dependencies = [{{ name = "torch" }}, {{ name = "flash-attn" }}]
[[package]]
name = "torch"
version = "2.11.0"
source = {{ registry = "https://index.example/simple" }}
[[package]]
name = "flash-attn"
version = "2.8.3"
source = {{ url = "https://x.example/{FILE}" }}
wheels = [{{ url = "https://x.example/{FILE}" }}]
"""


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("flash-attn==2.8.1+cu13torch2.10cxx11abitrue", "for torch 2.10"),
        ("flash-attn-3==3.0.0+20260318.cu130torch2100cxx11abitrue.8afc61", "for torch 2.10"),
        ("torch-scatter==2.1.2+pt210cu130", "for torch 2.10"),
        (f"flash-attn @ https://x.example/{FILE}", "for torch 2.10"),
        ("xformers==0.0.33+cu128", "for CUDA 12"),
        ("mamba-ssm==2.3.0+cu13torch2.11cxx11abifalse", "with the C++ ABI of before C++11"),
    ],
    ids=["dotted", "digits", "pt", "URL", "CUDA", "ABI"],
)
def test_an_extension_of_another_build(line, why):
    (finding,) = found = audited(check, TORCH + line)
    assert (finding.severity, [item[1] for item in told(found)]) == (Severity.ERROR, [2])
    assert f"is built {why}" in finding.message
    assert finding.message.endswith("the lock has torch 2.11.0+cu130 (line 1)")
    assert finding.evidence["text"] in line


def test_a_renamed_file_tells_what_the_version_does_not():
    (finding,) = audited(check, RENAMED, "/project/uv.lock")
    assert (finding.subject, finding.evidence["text"]) == ("flash-attn", "cu130torch2.10")


@pytest.mark.parametrize(
    "text",
    [
        TORCH + "flash-attn==2.8.1+cu13torch2.11cxx11abitrue\n",
        TORCH + "flash-attn-3==3.0.0+cu130torch2110\n",
        TORCH + "torch-scatter==2.1.2+pt211cu130\n",
        "torch==2.1.2+cu118\ntorch-scatter==2.1.2+pt211cu118\n",
        TORCH + "vllm==0.26.0+cu131\n",
        TORCH + "torchvision==0.26.0+cu128\n",
        TORCH + "deep-gemm==2.5.0+891d57b\ntorchao==0.17.0+git02105d46c\n",
        "torch==2.6.0+cu124\nflash-attn==2.7.4+cu12torch2.6cxx11abifalse\n",
        "flash-attn==2.8.1+cu13torch2.10cxx11abitrue\n",
        "torch==2.10.0 ; sys_platform == 'darwin'\nflash-attn==2.8.1+cu13torch2.11 ; sys_platform == 'linux'\n",
    ],
    ids=[
        "same",
        "digits",
        "pt",
        "2.1 or 2.11",
        "another minor",
        "companions",
        "commits",
        "old ABI, old torch",
        "no torch",
        "apart",
    ],
)
def test_healthy_neighbours(text):
    assert audited(check, text) == []
