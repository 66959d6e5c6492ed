"""Entries that are something else than their names say."""

from dataclasses import replace

import pytest
from values import cache, caches, damage, findings, jit_tools, torch_build

from envdoctor.model import Severity
from envdoctor.probes.cache.corrupt_entry import check


def judge(*entries, torch="2.11.0+cu130", triton="3.6.0"):
    facts = {"torch_build": torch_build(torch), "jit_tools": jit_tools(triton)}
    return findings(check, compile_caches=caches(cache(damage=damage(*entries))), **facts)


@pytest.mark.parametrize(
    ("role", "kind"), [(".py", "not-python"), (".so", "not-elf"), (".cubin", "not-elf"), (".json", "not-json")]
)
def test_what_every_run_fails_by_is_an_error_with_its_own_removal(role, kind):
    (finding,) = judge((role, kind, f"/cache/ab/x{role}"))
    assert (finding.severity, finding.subject) == (Severity.ERROR, f"/cache/ab/x{role}")
    assert finding.remedy == (f"rm -r /cache/ab/x{role}",)


@pytest.mark.parametrize(
    ("entry", "versions", "severity"),
    [
        ((".json", "missing-cubin"), {"triton": "3.6.0"}, Severity.ERROR),
        ((".json", "missing-cubin"), {"triton": "3.8.0"}, Severity.WARNING),
        (("__grp__", "not-json"), {"triton": "3.6.0"}, Severity.ERROR),
        (("__grp__", "not-json"), {"triton": "3.9.1"}, Severity.WARNING),
        ((".best_config", "not-json"), {"torch": "2.11.0+cu130"}, Severity.ERROR),
        ((".best_config", "not-json"), {"torch": "2.13.0+cu130"}, Severity.WARNING),
    ],
)
def test_what_newer_releases_bear_is_a_warning_for_them(entry, versions, severity):
    assert [f.severity for f in judge((*entry, "/cache/x"), **versions)] == [severity]


def test_many_of_a_kind_are_one_finding():
    (finding,) = judge(*((".py", "not-python", f"/cache/ab/{number}.py") for number in range(60)))
    assert finding.evidence["count"] == 60
    assert len(finding.evidence["paths"]) == 50
    assert ", and 59 more; every run fails" in finding.message


def test_a_search_that_ended_early_is_a_note():
    short = cache(files=100_000, damage=replace(damage(), complete=False))
    (finding,) = findings(check, compile_caches=caches(short))
    assert finding.severity == Severity.NOTE
    assert "9 files of the inductor cache /cache were looked at for damage" in finding.message


def test_a_whole_cache_and_what_other_probes_report_are_silent():
    assert judge() == []
    assert judge((".py", "empty", "/cache/x.py"), ("__grp__", "dangling-child", "/cache/y.json")) == []
