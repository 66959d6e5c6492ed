"""What the caches hold for this build."""

from values import cache, caches, jit_tools, torch_build, view, warm

from envdoctor.facts.cache_counts import Count
from envdoctor.model import Unavailable
from envdoctor.views.warmth import spoken


def warmth(*items):
    return view("warmth", compile_caches=caches(*items), torch_build=torch_build(), jit_tools=jit_tools("3.6.0"))


def kernels(path, keys=5, triton="3.6.0", **fields):
    return cache("triton", path, keys={"triton": keys}, counts=(Count("triton", "", triton, keys),), **fields)


def test_both_caches_are_added_up():
    found = warmth(warm("cuda:0", triton=2), kernels("/home/me/.triton/cache"))
    assert (found.keys("fxgraph"), found.keys("fxgraph", "cuda:0"), found.keys("triton")) == (10, 10, 7)
    assert not found.cold


def test_one_within_the_other_is_not_counted_twice():
    assert warmth(warm("cuda:0", triton=2), kernels("/cache/triton", 2)).keys("triton") == 2


def test_kernels_of_another_triton_do_not_count():
    assert warmth(warm("cuda:0"), kernels("/t", triton="3.5.1")).keys("triton") == 0


def test_devices_are_those_of_graphs_and_generated_modules():
    counts = (Count("fxgraph", "cuda:0", "", 1), Count("py", "cuda:3", "", 1), Count("fxgraph", "cpu", "", 1))
    found = warmth(cache(keys={"fxgraph": 2}, counts=counts))
    assert found.devices() == {"cuda:0", "cuda:3"}


def test_a_cache_that_could_not_be_read_makes_it_unknown():
    found = warmth(warm("cuda:0", complete=False, problem="Permission denied"))
    assert found == Unavailable("/cache: Permission denied")
    assert isinstance(warmth(), Unavailable)


def test_counts_are_said_by_kind():
    assert (
        spoken({"fxgraph": 1412, "aotautograd": 206, "triton": 9}) == "206 aotautograd, 1,412 fxgraph and 9 triton keys"
    )
    assert spoken({"fxgraph": 1}) == "1 fxgraph keys"
    assert spoken({}) == "no keys"
