"""A second process finds in the cache what the first one compiled: hits, no miss, no new file."""

import pytest
from values import attempt, ended, findings, smoke, tried, variables

from envdoctor.model import Severity
from envdoctor.probes.smoke.fresh_process import check

WARM = {
    "counters": {
        "inductor": {"fxgraph_cache_hit": 6, "pattern_matcher_count": 3},
        "aot_autograd": {"autograd_cache_hit": 3, "total": 3},
    },
    "aot_cache": True,
    "fx_cache": True,
    "caches_off": False,
    "new_files": [],
    "files": 40,
}


def detail(*, inductor=(), aot=(), **fields):
    """Return what a warm start tells, with other counters."""
    counters = WARM["counters"]
    changed = {"inductor": counters["inductor"] | dict(inductor), "aot_autograd": counters["aot_autograd"] | dict(aot)}
    return WARM | {"counters": changed} | fields


def judge(own_cache=True, **changes):
    return findings(check, smoke=smoke(attempt("fresh-process", **detail(**changes)), own_cache=own_cache))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"new_files": ["ab/cab.so"]}, "1 new file in the cache, such as ab/cab.so"),
        ({"new_files": ["a", "b"]}, "2 new files in the cache, such as a"),
        ({"inductor": {"fxgraph_cache_hit": 0}}, "no fxgraph_cache_hit"),
        ({"inductor": {"fxgraph_cache_miss": 1}}, "fxgraph_cache_miss 1"),
        ({"inductor": {"fxgraph_cache_bypass": 1}}, "fxgraph_cache_bypass 1"),
        ({"aot": {"autograd_cache_hit": 0}}, "no autograd_cache_hit"),
        ({"aot": {"autograd_cache_miss": 2}}, "autograd_cache_miss 2"),
        ({"aot": {"autograd_cache_bypass": 1}}, "autograd_cache_bypass 1"),
        ({"aot": {"autograd_cache_guard_miss": 1}}, "autograd_cache_guard_miss 1"),
        ({"fx_cache": False}, "the cache of compiled graphs is switched off"),
        ({"caches_off": True, "new_files": ["a"]}, "the compile caches are switched off"),
    ],
)
def test_each_fault_is_an_error(changes, fault):
    (found,) = judge(**changes)
    assert (found.severity, found.subject) == (Severity.ERROR, "cuda:0")
    assert found.message == f"a fresh process started cold: {fault}"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"inductor": {"fxgraph_cache_miss": 0}, "aot": {"autograd_cache_bypass": 0}},
        {"aot_cache": False, "aot": {"autograd_cache_hit": 0, "autograd_cache_bypass": 3}},
        {"aot_cache": None, "aot": {"autograd_cache_hit": 0}},
        {"fx_cache": None, "caches_off": None},
    ],
    ids=["warm", "zeros", "no aot cache by default", "no aot cache in this release", "no such switches"],
)
def test_healthy_neighbours(changes):
    assert judge(**changes) == []


def test_without_an_aot_cache_the_graphs_are_still_judged():
    assert len(judge(aot_cache=None, inductor={"fxgraph_cache_hit": 0})) == 1


def test_faults_of_one_device_are_one_finding():
    (found,) = judge(inductor={"fxgraph_cache_hit": 0, "fxgraph_cache_miss": 6}, new_files=["a"])
    assert found.message.count("; ") == 2


@pytest.mark.parametrize(("own_cache", "said"), [(True, False), (False, True)])
def test_in_a_cache_that_others_may_write_new_files_are_no_proof(own_cache, said):
    (found,) = judge(own_cache, new_files=["a"])
    assert found.message.endswith(", if no other job wrote them") is said
    assert (found.evidence["own_cache"], found.evidence["cache"]) == (own_cache, "/tmp/cache")


@pytest.mark.parametrize(
    ("changes", "begins"),
    [
        ({"caches_off": True}, "unset TORCHINDUCTOR_FORCE_DISABLE_CACHES"),
        ({"fx_cache": False}, "unset TORCHINDUCTOR_FX_GRAPH_CACHE"),
        ({"new_files": ["a"]}, "run the job with TORCH_LOGS="),
    ],
)
def test_the_cure_fits_the_fault(changes, begins):
    assert judge(**changes)[0].remedy[0].startswith(begins)


def test_a_second_process_that_died_is_told():
    (found,) = tried(check, attempt("fresh-process", ended()))
    assert found.message == "cuda:0: fresh-process failed: the process died by SIGSEGV"


def test_a_second_process_that_was_not_started_is_silent():
    assert tried(check, attempt("fresh-process", state="never-ran", reason="compile failed")) == []


def test_a_cache_that_the_job_switches_off_is_no_success():
    run = smoke(attempt("fresh-process", **detail(aot_cache=False)))
    (found,) = findings(check, smoke=run, variables=variables(TORCHINDUCTOR_AUTOGRAD_CACHE="0"))
    assert "AOTAutograd's cache is switched off (TORCHINDUCTOR_AUTOGRAD_CACHE=0)" in found.message
    assert found.remedy == ("unset TORCHINDUCTOR_AUTOGRAD_CACHE",)
    assert findings(check, smoke=run) == [], "a release that has it off by default is judged by the graphs"
