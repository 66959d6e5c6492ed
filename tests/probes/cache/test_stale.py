"""Entries of another build."""

from dataclasses import replace

import pytest
from values import PREFIX, cache, caches, driver, findings, gpu, jit_tools, torch_build, warm

from envdoctor.facts.cache_makers import Maker
from envdoctor.model import Severity
from envdoctor.probes.cache.stale import check


def judge(*makers, **given):
    facts = {"torch_build": replace(torch_build(), git="abc1234"), "jit_tools": jit_tools("3.6.0")} | given
    return findings(check, compile_caches=caches(cache(makers=makers)), **facts)


def test_nothing_of_this_torch_is_a_warning_that_names_both():
    (finding,) = judge(Maker("torch", "2.10.0+cu128", 412), Maker("cuda", "12.8", 412))
    assert finding.severity == Severity.WARNING
    assert "torch 412 by 2.10.0+cu128, none by 2.11.0+cu130, which is here" in finding.message
    assert "cuda" not in finding.message, "that follows from the torch"


def test_two_builds_in_one_cache_are_a_note():
    (finding,) = judge(Maker("torch", "2.11.0+cu130", 400), Maker("torch", "2.10.0+cu128", 12))
    assert finding.severity == Severity.NOTE
    assert "torch 12 by 2.10.0+cu128, 400 by 2.11.0+cu130" in finding.message


@pytest.mark.parametrize(
    "maker", [Maker("torch git", "fff0000", 3), Maker("cuda", "12.8", 3), Maker("triton", "3.5.1", 3)]
)
def test_the_same_version_may_be_another_build(maker):
    (finding,) = judge(Maker("torch", "2.11.0+cu130", 3), maker)
    assert finding.severity == Severity.WARNING
    assert maker.value in finding.message


def test_kernels_for_a_gpu_that_is_not_here_are_told():
    here = driver(gpu(0))
    (finding,) = judge(Maker("arch", "12.0", 3), driver=here)
    assert finding.severity == Severity.WARNING
    assert "arch 3 for 12.0, none for 9.0" in finding.message
    assert judge(Maker("arch", "9.0", 3), driver=here) == []
    assert judge(Maker("arch", "9.0", 3), driver=driver()) == [], "no GPU, nothing to compare with"


def test_another_environment_is_a_note():
    (finding,) = judge(Maker("environment", "/home/bob/venv", 3))
    assert finding.severity == Severity.NOTE


def test_its_own_entries_are_silent():
    own = (("torch", "2.11.0+cu130"), ("torch git", "abc1234"), ("cuda", "13.0"), ("triton", "3.6.0"))
    assert judge(*(Maker(what, value, 3) for what, value in (*own, ("environment", PREFIX)))) == []
    assert judge() == []
    assert findings(check, compile_caches=caches(warm("cuda:0")), torch_build=torch_build()) == []
