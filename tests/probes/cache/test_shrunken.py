"""Fewer keys than there once were."""

import pytest
from values import caches, findings, judged, marks, torch_build, warm

from envdoctor.facts.cache_counts import Count
from envdoctor.model import Severity
from envdoctor.policy import LIMITS, Policy
from envdoctor.probes.cache.shrunken import check

ONCE = marks(
    ("aotautograd", "", 12),
    ("fxgraph", "", 412),
    *(("fxgraph", f"cuda:{number}", 400 if number < 6 else 6) for number in range(8)),
)


def judge(*items, once=ONCE, **given):
    return findings(check, compile_caches=caches(*items), torch_build=torch_build(), cache_marks=once, **given)


def test_it_says_the_factor_by_kind_and_device():
    left = tuple(Count("fxgraph", f"cuda:{number}", "", 1) for number in range(6))
    (finding,) = judge(warm(keys={"aotautograd": 12, "fxgraph": 6}, counts=left, makers=(), size=925 << 10))
    assert (finding.severity, finding.subject) == (Severity.WARNING, "/cache")
    assert "fxgraph 412 -> 6 keys, none for cuda:6 and cuda:7, cuda:0 400 -> 1" in finding.message
    assert finding.message.endswith("353 MiB -> 925 KiB")
    assert finding.remedy[0] == "envdoctor cache restore --latest --target /env"
    assert "aotautograd" not in finding.message


def test_one_device_lost_is_seen_though_the_sum_is_as_large_as_ever():
    (finding,) = judge(
        warm("cuda:0", graphs=20), once=marks(("fxgraph", "", 20), ("fxgraph", "cuda:0", 10), ("fxgraph", "cuda:1", 10))
    )
    assert "fxgraph 20 -> 20 keys, none for cuda:1" in finding.message


@pytest.mark.parametrize("graphs", [206, 400, 500])
def test_some_keys_less_or_more_are_silent(graphs):
    assert judge(warm("cuda:0", graphs=graphs), once=marks(("fxgraph", "", 412), ("fxgraph", "cuda:0", 412))) == []


def test_the_share_is_the_policy_s():
    policy = Policy(limits={**LIMITS, "cache_share": 90})
    assert judge(warm("cuda:0", graphs=206), once=marks(("fxgraph", "", 412)), policy=policy)


def test_bytes_never_count():
    assert judge(warm("cuda:0", size=1), once=marks(("fxgraph", "", 10))) == []


def test_a_cache_without_any_graph_is_missing_rather_than_shrunken():
    assert judge(warm()) == []


def test_by_device_nothing_is_said_where_not_all_was_read():
    assert judge(warm("cuda:0", sampled=False), once=marks(("fxgraph", "cuda:1", 10))) == []


def test_a_walk_cut_short_says_nothing_at_all():
    short = warm("cuda:0", complete=False)
    outcome = judged(check, compile_caches=caches(short), torch_build=torch_build(), cache_marks=ONCE)
    assert outcome.skipped.reason == "/cache: the walk through it was cut short"
