"""No graph for this build: a note at first, a warning once there were some."""

from values import cache, caches, findings, marks, torch_build, warm

from envdoctor.model import Severity, Unavailable
from envdoctor.probes.cache.missing import check


def judge(*items, cache_marks=None):
    given = cache_marks or Unavailable("no state")
    return findings(check, compile_caches=caches(*items), torch_build=torch_build(), cache_marks=given)


def test_with_a_mark_it_is_a_warning_that_says_what_there_was():
    once = marks(("fxgraph", "", 412), ("aotautograd", "", 206), ("fxgraph", "cuda:0", 412))
    (finding,) = judge(cache(exists=False), cache_marks=once)
    assert (finding.severity, finding.subject) == (Severity.WARNING, "/cache")
    assert "is not there; on 2026-06-02 there were 206 aotautograd and 412 fxgraph keys, 353 MiB" in finding.message


def test_without_one_it_is_a_note():
    for given in (None, marks()):
        (finding,) = judge(cache(exists=False), cache_marks=given)
        assert finding.severity == Severity.NOTE


def test_an_empty_cache_and_one_of_another_build_are_as_good_as_none():
    assert "is empty" in judge(cache())[0].message
    assert "holds nothing for this build" in judge(warm("cuda:0", torch="2.10.0+cu130"))[0].message


def test_a_cache_elsewhere_is_named_with_the_variable():
    (finding,) = judge(cache(path="/other", exists=False), cache_marks=marks(("fxgraph", "", 412)))
    assert finding.remedy[0] == "export TORCHINDUCTOR_CACHE_DIR=/cache"
    assert finding.remedy[1] == "envdoctor cache restore --latest --target /env"


def test_graphs_of_this_build_or_of_an_unknown_one_are_silent():
    assert judge(warm("cuda:0")) == []
    assert judge(warm("cuda:0", torch="")) == []
