"""What a warm-up came to, from counters, devices and keys alone."""

import pytest

from envdoctor.cache.counters import Told
from envdoctor.facts.cache_places import Place
from envdoctor.facts.compile_caches import CompileCache
from envdoctor.model import Target
from envdoctor.views.warmth import Warmth
from envdoctor.warming import judging
from envdoctor.warming.values import Asked, Cold, Fault, Result, Run, Warmed

ROOT = "/nowhere/cache"
ASKED = Asked("job:step", limit=2.5)


def told(*, cache="", devices=None, switches=None, graphs=None, **entries):
    """Return what a process told: `miss=2` of AOTAutograd's cache, `graphs` of the other."""
    counters = {
        "aot_autograd": {f"autograd_cache_{name}": count for name, count in entries.items()},
        "inductor": {f"fxgraph_cache_{name}": count for name, count in (graphs or {}).items()},
    }
    known = {"caches_off": None, "aot_cache": None} | (switches or {})
    return Told(cache, counters, known, None if devices is None else frozenset(devices))


def run(*processes, status=0, new=(), raised=""):
    return Run(status, 1.0, processes, new, raised)


def seen(**keys):
    """Return a cache with so many keys: `cuda_0=3`."""
    place = Place("inductor", ROOT, "default", "X")
    counts = {("aotautograd", name.replace("_", ":")): count for name, count in keys.items()}
    return Warmth(CompileCache(place), counts, sampled=True)


def first(made, device="cpu"):
    return [(fault.kind, fault.said) for fault in judging.of_first(made, device, ROOT, ASKED)]


@pytest.mark.parametrize(
    "process",
    [
        told(miss=2, saved=2, graphs={"miss": 4}),
        told(miss=1, saved=1, graphs={"miss": 1}),
        told(hit=2, graphs={"hit": 4}),
        told(hit=1, miss=1, saved=1),
    ],
    ids=["training", "inference, saved at once", "warm already", "one more"],
)
def test_what_saved_all_that_it_missed_is_no_fault(process):
    assert first(run(process)) == []


@pytest.mark.parametrize(
    ("process", "kind", "said"),
    [
        (told(), "empty", "it compiled nothing"),
        (told(graphs={"miss": 3}), "empty", "3 graphs were compiled, and AOTAutograd's cache was never asked for them"),
        (told(miss=1, graphs={"miss": 1}), "forward-only", "1 of 1 graph ran no backward"),
        (told(miss=3, saved=1, graphs={"miss": 4}), "forward-only", "2 of 3 graphs ran no backward"),
        (told(miss=2, graphs={"miss": 4}), "unsaved", "no entry for 2 of 2 graphs, though the backward was compiled"),
        (told(bypass=2), "bypass", "autograd_cache_bypass 2"),
        (told(miss=1, graphs={"bypass": 1}), "bypass", "fxgraph_cache_bypass 1"),
        (told(switches={"caches_off": True}), "untold", "switched off (TORCHINDUCTOR_FORCE_DISABLE_CACHES)"),
        (told(switches={"aot_cache": False}, graphs={"miss": 1}), "untold", "AOTAutograd's cache is switched off"),
        (told(cache="/else", miss=1, saved=1), "untold", "it used another cache, /else"),
    ],
)
def test_what_is_wrong_with_a_warm_up_is_one_fault(process, kind, said):
    ((found, text),) = first(run(process))
    assert (found, said in text) == (kind, True)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (run(told(miss=1), status=3), "job:step failed with status 3"),
        (run(told(miss=1), status=-11), "job:step died by signal 11"),
        (run(told(miss=1), status=None), "job:step: no end within 2.5 s: it was ended with all it had started"),
        (run(status=1, raised="ValueError: x"), "ValueError: x"),
    ],
)
def test_one_that_failed_is_asked_for_nothing_more(made, said):
    assert first(made) == [("command", said)]


@pytest.mark.parametrize(
    ("device", "used", "said"),
    [
        ("cuda:1", [["cuda:0"]], ["it ran on cuda:0 and never on cuda:1"]),
        ("cuda:1", [[]], ["it used no GPU"]),
        ("cuda:1", [["cuda:0"], ["cuda:1"]], []),
        ("cuda:1", [None], []),
        ("cpu", [["cuda:0"]], []),
    ],
)
def test_the_device_that_was_meant_has_to_be_used(device, used, said):
    processes = [told(miss=1, saved=1, devices=devices) for devices in used]
    assert first(run(*processes), device) == [("device", text) for text in said]


def test_a_proof_needs_hits_no_miss_and_no_new_file():
    warm = told(hit=2)
    assert list(judging.of_proof(run(warm), ROOT, ASKED)) == []
    for made in (run(told(hit=2, miss=1)), run(told()), run(warm, new=("ab/x.so",)), run(warm, status=1), run()):
        assert {fault.kind for fault in judging.of_proof(made, ROOT, ASKED)} == {"not-proven"}


@pytest.mark.parametrize(
    ("keys", "mark", "expect", "kinds"),
    [
        (4, None, None, []),
        (4, 8, None, []),
        (3, 8, None, ["partial"]),
        (3, 8, 3, []),
        (3, None, 4, ["partial"]),
        (0, None, None, ["device"]),
    ],
)
def test_keys_are_held_against_the_mark_or_what_is_expected(keys, mark, expect, kinds):
    warmed = Warmed("cuda:1", run(), None, seen(cuda_0=9, cuda_1=keys), mark=mark)
    found = list(judging.of_keys(warmed, expect, 50))
    assert [fault.kind for fault in found] == kinds


def test_unknown_keys_are_held_against_nothing():
    assert list(judging.of_keys(Warmed("cuda:1", run(), None, None, mark=8), None, 50)) == []


def test_devices_without_keys_are_cold_and_count_where_a_mark_covers_them():
    cache = seen(cuda_0=4, cuda_2=1)

    def cold(**options):
        found = judging.cold(["cuda:0"], ["cuda:0", "cuda:1"], {"cuda:0": 4, "cuda:2": 4}, cache, 50, **options)
        return [(each.device, each.keys, each.mark, each.counts) for each in found]

    assert cold(chosen=False) == [("cuda:1", 0, None, False), ("cuda:2", 1, 4, True)]
    assert cold(chosen=True) == [("cuda:1", 0, None, False), ("cuda:2", 1, 4, False)]


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({}, 0),
        ({"warmed": (Warmed("cpu", run(), None, None, faults=(Fault("empty", ""),)),)}, 1),
        ({"cold": (Cold("cuda:1", 0, 4, counts=True),)}, 1),
        ({"cold": (Cold("cuda:1", 0, None, counts=False),)}, 0),
        ({"unsaved": "no room"}, 3),
        ({"unknown": "too much"}, 0),
        ({"unknown": "too much", "asked": Asked(expect=3)}, 3),
    ],
)
def test_the_status_is_a_devices_then_that_of_what_was_asked_and_not_done(more, status):
    fixed = {"target": Target("/env", "/env/bin/python"), "asked": Asked(), "torch": "2.11.0", "cache": ROOT}
    assert Result(**fixed | {"why": "", "share": 50, "warmed": ()} | more).status() == status
