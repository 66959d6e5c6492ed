"""Which counts become marks."""

import pytest
from values import caches, marks, torch_build, warm

from envdoctor import marking
from envdoctor.errors import EnvDoctorError
from envdoctor.model import Unavailable
from envdoctor.snapshot import Snapshot
from envdoctor.state.marks import read

GONE = Unavailable("torch is not installed")


@pytest.fixture
def taken(tmp_path):
    """Return a function that makes a snapshot with this cache, and a state below the test's directory."""

    def make(cache, problem=None):
        known = marks(problem=problem)
        known = type(known)(known.key, str(tmp_path / "s" / "n.sqlite"), (), problem)
        return Snapshot(torch_build=torch_build(), compile_caches=caches(cache), cache_marks=known)

    return make


def kept(snapshot):
    found = read(snapshot.cache_marks.path, snapshot.cache_marks.key, snapshot.compile_caches.taken_at)
    return {(mark.kind, mark.device): mark.keys for mark in found}


def test_graphs_and_kernels_are_marked_in_all_and_by_device(taken):
    snapshot = taken(warm("cuda:0", "cuda:1", graphs=3, triton=7))
    assert marking.remember(snapshot) is None
    assert kept(snapshot) == {
        ("triton", ""): 7,
        **{(kind, ""): 6 for kind in ("fxgraph", "aotautograd")},
        **{(kind, f"cuda:{number}"): 3 for kind in ("fxgraph", "aotautograd") for number in (0, 1)},
    }
    assert {mark.keys for mark in marking.renewed(snapshot).marks} == {7, 6, 3}


def test_what_was_not_read_in_full_is_marked_only_when_that_is_asked_for(taken):
    snapshot = taken(warm("cuda:0", graphs=3, sampled=False))
    marking.remember(snapshot)
    assert kept(snapshot) == {}, "some of it may be of another build"
    marking.remember(snapshot, accept=True)
    assert kept(snapshot) == {("fxgraph", ""): 3, ("aotautograd", ""): 3}


@pytest.mark.parametrize(
    "cache", [warm("cuda:0", complete=False), warm(), warm("cuda:0", torch="2.9.1")], ids=["cut", "cold", "stale"]
)
def test_a_walk_cut_short_and_a_cold_cache_mark_nothing(taken, cache, tmp_path):
    assert marking.remember(taken(cache)) is None
    assert not (tmp_path / "s").exists()


def test_to_accept_a_cold_cache_forgets_all(taken):
    marking.remember(taken(warm("cuda:0")))
    snapshot = taken(warm())
    marking.remember(snapshot, accept=True)
    assert kept(snapshot) == {}


def test_what_cannot_be_written_is_said_and_stops_no_check(taken, tmp_path):
    (tmp_path / "s").write_text("")
    assert "s" in marking.remember(taken(warm("cuda:0")))
    with pytest.raises(EnvDoctorError):
        marking.remember(taken(warm("cuda:0")), accept=True)


def test_nothing_is_accepted_that_was_not_seen(taken):
    with pytest.raises(EnvDoctorError, match="cut short"):
        marking.remember(taken(warm("cuda:0", complete=False)), accept=True)
    with pytest.raises(EnvDoctorError, match="torch is not installed"):
        marking.remember(Snapshot(compile_caches=GONE, cache_marks=GONE), accept=True)
    assert marking.remember(Snapshot(compile_caches=GONE, cache_marks=GONE)) is None


def test_an_unreadable_state_is_said_though_nothing_is_to_be_written(taken):
    assert marking.remember(taken(warm(), problem="/s: damaged")) == "/s: damaged"
