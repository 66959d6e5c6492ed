"""What a try shows, and what a setting comes to."""

from dataclasses import replace

import pytest
from racers import COLD, FX, HITS, SETTING, TOLD, ended, race, tried

from envdoctor.facts.smoke import Failure
from envdoctor.facts.threads import Setting, Thread
from envdoctor.views.races import misses, result, verdicts

WARM = Setting(1, "warm")
DIED = (Thread("cuda:0", 7, "RuntimeError", FX), Thread("cuda:1", 40))
QUIET = replace(TOLD, meetings=0)
BROKEN = (Thread("cuda:0", 0, "InductorError", "no gcc"), Thread("cuda:1", 40))
DEADLOCK = (
    'Thread 1 (most recent call first):\n  File "/e/torch/_inductor/compile_fx.py", line 1 in compile_fx_backward\n\n'
    'Thread 2 (most recent call first):\n  File "/e/torch/autograd/graph.py", line 1 in _engine_run_backward\n'
    '  File "/e/torch/_dynamo/convert_frame.py", line 1 in _compile\n'
)


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        (TOLD, "clean"),
        (QUIET, "not-exercised"),
        (replace(QUIET, traces=0), "not-exercised"),
        (replace(TOLD, threads=DIED), "fx-error"),
        (replace(QUIET, threads=DIED), "fx-error"),
        (replace(TOLD, flag_left=True), "stuck-flag"),
        (replace(TOLD, threads=DIED, again=(f"RuntimeError: {FX}",)), "stuck-flag"),
        (replace(TOLD, threads=BROKEN), "error"),
        (replace(TOLD, threads=(*BROKEN, *DIED)), "fx-error"),
        (replace(TOLD, again=("KeyError: 7",)), "error"),
        (replace(TOLD, figures={"bfloat16": 0.021}), "wrong"),
        (replace(TOLD, figures={"bfloat16": float("nan")}), "wrong"),
        (replace(TOLD, figures={"bfloat16": 0.019}), "clean"),
    ],
)
def test_a_try_that_came_to_its_end(told, shown):
    assert result(tried(told), "none") == shown


@pytest.mark.parametrize(
    ("failure", "shown"),
    [
        (ended(stacks=DEADLOCK), "deadlock"),
        (ended(stacks=DEADLOCK.partition("\n\n")[0]), "hung"),
        (ended(), "hung"),
        (ended("died", stacks=DEADLOCK), "died"),
        (Failure("raised", "OSError", "no"), "error"),
    ],
)
def test_a_try_that_did_not(failure, shown):
    assert result(tried(failure=failure), "none") == shown


def test_a_barrier_keeps_traces_and_calls_apart_if_something_was_traced():
    assert result(tried(QUIET), "barrier") == "apart"
    assert result(tried(replace(QUIET, traces=0)), "barrier") == "not-exercised"
    assert result(tried(TOLD), "barrier") == "clean"


@pytest.mark.parametrize(("counters", "said"), [(HITS, []), (COLD, ["no fxgraph_cache_hit", "fxgraph_cache_miss 4"])])
def test_what_the_cache_did_not_have(counters, said):
    assert list(misses(replace(TOLD, counters=counters)))[:2] == said


def setting(*tries, where=SETTING, remedy="none"):
    return verdicts(race(*tries, settings=(where,), remedy=remedy))[0]


@pytest.mark.parametrize(
    ("told", "state", "said"),
    [
        ([TOLD] * 3, "passed", "clean in 3 of 3 tries; 9 calls met another thread's trace"),
        ([TOLD], "passed", "clean in 1 of 1 try; 3 calls met another thread's trace"),
        (
            [TOLD, QUIET, QUIET],
            "passed",
            ("clean in 1 of 3 tries; 3 calls met another thread's trace; "
            "2 of 3 not exercised: no call met another thread's trace"),
        ),
        ([QUIET] * 2, "never-ran", "2 of 2 not exercised: no call met another thread's trace"),
        ([replace(QUIET, traces=0)] * 2, "never-ran", "2 of 2 not exercised: nothing was traced"),
        ([replace(QUIET, calls=0)] * 2, "never-ran", "2 of 2 not exercised: nothing was called"),
        ([replace(TOLD, threads=DIED)] * 3, "failed", "the FX error in 3 of 3 tries"),
        (
            [replace(TOLD, threads=DIED), TOLD, replace(TOLD, flag_left=True)],
            "failed",
            "the FX error in 1 of 3 tries, clean in 1, an FX-tracing flag that stays set in 1",
        ),
        ([replace(TOLD, threads=DIED), QUIET], "failed", ("the FX error in 1 of 2 tries; 1 of 2 not exercised: no call "
         "met another thread's trace")),
    ],
)  # fmt: skip
def test_a_setting_says_how_often_what_came(told, state, said):
    found = setting(*(tried(one, number=number) for number, one in enumerate(told, 1)))
    assert (found.state, found.said) == (state, said)


def test_a_warm_one_says_what_the_cache_had():
    hit = tried(replace(TOLD, threads=DIED, counters=HITS), WARM)
    assert setting(hit, where=WARM).said == "the FX error in 1 of 1 try; everything hit the cache"
    missed = tried(replace(TOLD, counters=COLD), WARM, 2)
    assert setting(hit, missed, where=WARM).said.endswith("; no fxgraph_cache_hit")


def test_a_barrier_that_did_its_work_says_so():
    found = setting(tried(QUIET), remedy="barrier")
    assert (found.state, found.said) == (
        "passed",
        "clean in 1 of 1 try; the barrier kept every trace apart from all calls",
    )


def test_one_that_shows_nothing_is_a_failure_only_if_no_other_shows_anything():
    other = Setting(3, "cold")
    first, second = verdicts(race(tried(QUIET), tried(TOLD, other)))
    assert (first.state, second.state) == ("skipped", "passed")
    first, second = verdicts(race(tried(QUIET), tried(QUIET, other)))
    assert (first.state, second.state) == ("never-ran", "never-ran")


@pytest.mark.parametrize(("failed", "state"), [(False, "skipped"), (True, "never-ran")])
def test_one_that_was_not_tried_says_why(failed, state):
    given = race(tried(), settings=(SETTING, WARM), lost={WARM: ("nobody to race with", failed)})
    found = verdicts(given)[1]
    assert (found.state, found.said) == (state, "nobody to race with")


def test_one_that_was_not_reached_is_a_failure():
    found = verdicts(race(tried(), settings=(SETTING, WARM)))[1]
    assert (found.state, found.said) == ("never-ran", "it was not reached")


def test_nothing_but_pointless_settings_is_a_failure():
    (found,) = verdicts(race(settings=(WARM,), lost={WARM: ("nobody to race with", False)}))
    assert found.state == "never-ran"
