"""Keys of this build, and of others."""

from cachetrees import TORCH, graph

from envdoctor.facts.cache_counts import Count, counted, of_build
from envdoctor.facts.cache_makers import of_graph
from envdoctor.facts.cache_walk import Key

FX, AOT = Key("fxgraph", "/x", 5), Key("aotautograd", "/x", 7)


def test_an_entry_without_a_version_gets_it_by_the_hash_of_its_sources():
    entries = [(FX, of_graph(graph("cuda:0"))), (AOT, of_graph(graph("cuda:0", told=False)))]
    assert counted(entries) == (Count("aotautograd", "cuda:0", TORCH, 1, 7), Count("fxgraph", "cuda:0", TORCH, 1, 5))


def test_a_hash_that_two_versions_claim_tells_nothing():
    told = [graph("cpu"), graph("cpu").replace(TORCH.encode(), b"2.99.0+cu130"), graph("cpu", told=False)]
    makers = {count.torch for count in counted([(FX, of_graph(data)) for data in told])}
    assert makers == {TORCH, "2.99.0+cu130", ""}


def test_a_graph_of_two_devices_counts_for_both():
    assert [count.device for count in counted([(FX, of_graph(graph("cuda:0", "cuda:1")))])] == ["cuda:0", "cuda:1"]


def test_other_builds_do_not_count_and_unknown_ones_do():
    keys = {"fxgraph": 10, "triton": 4}
    counts = [
        Count("fxgraph", "cuda:0", TORCH, 3),
        Count("fxgraph", "cuda:0", "2.10.0", 2),
        Count("fxgraph", "cuda:1", "", 1),
        Count("triton", "", "3.5.1", 4),
        Count("py", "cuda:0", "", 8),
    ]
    assert of_build(keys, counts, TORCH, "3.6.0") == {
        ("fxgraph", ""): 8,
        ("fxgraph", "cuda:0"): 3,
        ("fxgraph", "cuda:1"): 1,
        ("triton", ""): 0,
        ("py", "cuda:0"): 8,
    }
