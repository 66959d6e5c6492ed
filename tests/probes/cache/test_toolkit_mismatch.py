"""Extensions built by another toolkit."""

import pytest
from values import cache, caches, findings, toolkit, toolkits, torch_build

from envdoctor.facts.cache_builds import Build
from envdoctor.model import Severity
from envdoctor.probes.cache.toolkit_mismatch import check


def judge(nvcc, *items, cuda="13.0"):
    cached = caches(cache("torch_extensions", builds=(Build("/x/my_ext", nvcc),)))
    return findings(check, compile_caches=cached, toolkits=toolkits(*items), torch_build=torch_build(cuda=cuda))


def test_another_major_is_a_warning_that_names_both():
    (finding,) = judge("/usr/local/cuda-12.8/bin/nvcc", toolkit("/usr/local/cuda-12.8", "12.8.93"))
    assert (finding.severity, finding.subject) == (Severity.WARNING, "/x/my_ext")
    assert "CUDA 12.8" in finding.message
    assert "CUDA 13.0" in finding.message


def test_a_toolkit_that_is_gone_is_a_note():
    (finding,) = judge("/usr/local/cuda-12.8/bin/nvcc", toolkit())
    assert finding.severity == Severity.NOTE


@pytest.mark.parametrize("version", ["13.0.88", "13.1.10"])
def test_the_same_major_is_silent(version):
    assert judge("/usr/local/cuda/bin/nvcc", toolkit("/usr/local/cuda", version)) == []


def test_a_torch_without_cuda_is_silent():
    assert judge("/usr/local/cuda-12.8/bin/nvcc", toolkit("/usr/local/cuda-12.8", "12.8.93"), cuda=None) == []
