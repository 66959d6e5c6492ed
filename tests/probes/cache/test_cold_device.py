"""Devices without graphs of their own."""

from values import caches, driver, findings, gpu, marks, torch_build, variables, warm

from envdoctor.model import Severity
from envdoctor.probes.cache.cold_device import check


def judge(cache, gpus=3, once=(), **env):
    facts = {"driver": driver(*map(gpu, range(gpus))), "variables": variables(**env), "cache_marks": marks(*once)}
    return findings(check, compile_caches=caches(cache), torch_build=torch_build(), **facts)


def test_the_ones_left_out_of_several_are_warnings():
    (finding,) = judge(warm("cuda:0", "cuda:1"))
    assert (finding.severity, finding.subject) == (Severity.WARNING, "cuda:2")
    assert "warm for cuda:0, cuda:1" in finding.message
    assert finding.remedy == ("envdoctor warm --devices 2 --target /env --entry PKG.MOD:FUNCTION",)


def test_with_one_warm_device_it_is_a_note_that_says_why_it_may_be_right():
    found = judge(warm("cuda:0"))
    assert [(f.severity, f.subject) for f in found] == [(Severity.NOTE, "cuda:1"), (Severity.NOTE, "cuda:2")]
    assert "needs no other" in found[0].message


def test_a_device_that_once_had_graphs_is_a_warning():
    found = judge(warm("cuda:0"), once=[("fxgraph", "cuda:1", 10)])
    assert [f.severity for f in found] == [Severity.WARNING, Severity.NOTE]


def test_only_visible_devices_count_and_generated_modules_do():
    assert judge(warm("cuda:0", "cuda:1"), CUDA_VISIBLE_DEVICES="4,5", gpus=6) == []
    assert judge(warm("cuda:0", "cuda:1", "cuda:2")) == []


def test_a_cold_cache_and_one_that_was_not_read_in_full_are_silent():
    assert judge(warm()) == []
    assert judge(warm("cuda:0", sampled=False)) == []
