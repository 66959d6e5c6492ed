import pytest

from envdoctor import hits


@pytest.mark.parametrize(
    ("counted", "said"),
    [
        ({"autograd_cache_hit": 2}, []),
        ({}, ["no autograd_cache_hit"]),
        ({"autograd_cache_hit": 2, "autograd_cache_miss": 1}, ["autograd_cache_miss 1"]),
        ({"autograd_cache_hit": 2, "autograd_cache_bypass": 3}, ["autograd_cache_bypass 3"]),
        ({"autograd_cache_hit": 1, "autograd_cache_guard_miss": 1}, ["autograd_cache_guard_miss 1"]),
        ({"autograd_cache_saved": 1}, ["no autograd_cache_hit"]),
    ],
)
def test_what_speaks_against_a_warm_start(counted, said):
    assert list(hits.missed(hits.AUTOGRAD, {"aot_autograd": counted})) == said


def test_no_counters_at_all_are_no_hit():
    assert list(hits.missed(hits.GRAPHS, {})) == ["no fxgraph_cache_hit"]


def test_new_files_are_named():
    assert list(hits.grown([], 0, shared=True)) == []
    assert list(hits.grown(["a"], 1, shared=False)) == ["1 new file in the cache, such as a"]
    assert list(hits.grown(["a"], 7, shared=True)) == [
        "7 new files in the cache, such as a, if no other job wrote them"
    ]
