"""Members of one group at different versions are an error; their build labels do not count."""

import pytest
from values import PIP, distributions, findings, lock

from envdoctor.model import Severity
from envdoctor.probes.packages.version_skew import check

LEADER, CACHE, CUBIN = "flashinfer-python", "flashinfer-jit-cache", "flashinfer-cubin"


def judge(*items, **facts):
    return findings(check, distributions=distributions(*items, "pip"), **facts)


def test_a_companion_left_behind_is_an_error():
    (finding,) = judge(f"{LEADER}==0.6.11", f"{CACHE}==0.6.9+cu130")
    assert (finding.severity, finding.subject) == (Severity.ERROR, CACHE)
    assert finding.evidence["versions"] == {LEADER: "0.6.11", CACHE: "0.6.9+cu130"}
    assert finding.evidence["source"]
    assert finding.remedy == (f"{PIP} install --force-reinstall --no-deps {CACHE}==0.6.11",)


def test_all_that_are_apart_are_brought_back_together():
    (finding,) = judge(f"{LEADER}==0.6.11+x", f"{CACHE}==0.6.9", f"{CUBIN}==0.6.8")
    assert finding.remedy[0].endswith(f"{CUBIN}==0.6.11 {CACHE}==0.6.11")


def test_members_without_their_leader_are_compared_with_each_other():
    (finding,) = judge(f"{CACHE}==0.6.9", f"{CUBIN}==0.6.8")
    assert finding.subject == CACHE


def test_it_is_blamed_on_what_brought_it():
    found = judge(f"{LEADER}==0.6.11", f"{CACHE}==0.6.9", lock=lock(f"{LEADER}==0.6.11"))
    assert [finding.evidence["cause"] for finding in found] == [CACHE]


@pytest.mark.parametrize(
    "items",
    [
        [f"{LEADER}==0.6.16", f"{CACHE}==0.6.16+cu130"],
        [f"{LEADER}==0.6.16", f"{CACHE}==0.6.16.0"],
        [f"{LEADER}==0.6.16"],
        [f"{LEADER}==0.6.16", "nixl==1.5.2"],
        [],
    ],
    ids=["label", "spelling", "alone", "another group", "none"],
)
def test_healthy_neighbours(items):
    assert judge(*items) == []
