"""Files that are empty, cut off or never finished."""

import pytest
from values import cache, caches, damage, findings

from envdoctor.facts.cache_walk import Leftover
from envdoctor.model import Severity
from envdoctor.probes.cache.partial_file import check


def judge(*entries, **fields):
    return findings(check, compile_caches=caches(cache(damage=damage(*entries), **fields)))


@pytest.mark.parametrize(
    ("entry", "severity"),
    [
        ((".py", "empty"), Severity.ERROR),
        ((".so", "truncated-elf"), Severity.ERROR),
        ((".cubin", "empty"), Severity.ERROR),
        (("graph", "empty"), Severity.NOTE),
    ],
)
def test_the_severity_is_that_of_what_torch_does(entry, severity):
    assert [(f.severity, f.subject) for f in judge((*entry, "/cache/x"))] == [(severity, "/cache/x")]


def test_leftovers_of_dead_writers_are_one_note():
    (finding,) = judge(leftovers=(Leftover("/cache/ab/.1.2.tmp", 1, 0.0),), leftovers_count=7)
    assert (finding.severity, finding.evidence["count"]) == (Severity.NOTE, 7)


def test_a_whole_cache_is_silent():
    assert judge() == []
    assert judge((".py", "not-python", "/cache/x.py")) == [], "cache/corrupt-entry's"
