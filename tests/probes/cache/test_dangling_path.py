"""Kernels that name files of another place."""

from values import cache, caches, damage, findings, jit_tools

from envdoctor.model import Severity
from envdoctor.probes.cache.dangling_path import check


def judge(*entries):
    facts = {"compile_caches": caches(cache("triton", damage=damage(*entries))), "jit_tools": jit_tools("3.6.0")}
    return findings(check, **facts)


def test_it_costs_a_compile():
    (finding,) = judge(("__grp__", "dangling-child", "/cache/KEY/__grp__k.json"))
    assert finding.severity == Severity.WARNING


def test_others_are_silent():
    assert judge() == []
    assert judge(("__grp__", "not-json", "/cache/KEY/__grp__k.json")) == []
