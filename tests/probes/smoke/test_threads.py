"""A setting in which threads broke each other is told, with how often, and what to do by what it was."""

import json
from dataclasses import replace

import pytest
from racers import FX, HITS, SETTING, TOLD, ended, race, tried
from values import attempt, findings, smoke
from values import failure as raised

from envdoctor.facts.threads import Setting, Thread
from envdoctor.model import Severity
from envdoctor.probes.smoke.threads import check

GUARD = "envdoctor run --guard fx-race -- CMD"
AGAIN = "envdoctor smoke --target /env --devices cpu --level threads"
DIED = replace(TOLD, threads=(Thread("cuda:0", 7, "RuntimeError", FX), Thread("cuda:1", 40)))
BROKEN = replace(TOLD, threads=(Thread("cuda:0", 0, "InductorError", "no gcc\nat all"), Thread("cuda:1", 40)))
STACKS = (
    'Thread 1 (most recent call first):\n  File "/e/torch/_inductor/compile_fx.py", line 1 in compile_fx_backward\n\n'
    'Thread 2 (most recent call first):\n  File "/e/torch/autograd/graph.py", line 1 in _engine_run_backward\n'
    '  File "/e/torch/_dynamo/convert_frame.py", line 1 in _compile\n'
)


def judge(*tries, attempts=(), **fields):
    return findings(check, smoke=smoke(*attempts, level="threads", devices=("cpu",)), race=race(*tries, **fields))


def test_the_fx_error_is_an_error_of_its_setting():
    warm = Setting(1, "warm")
    (found,) = judge(tried(replace(DIED, counters=HITS), warm), tried(TOLD, warm, 2, "in turn"))
    assert (found.severity, found.subject) == (Severity.ERROR, "1 thread a device, warm cache")
    assert found.message == (
        "1 thread a device, warm cache: the FX error in 1 of 2 tries, clean in 1; no fxgraph_cache_hit"
    )
    assert found.remedy[0] == GUARD
    assert "or move to torch 2.14 or newer, whose flag is each thread's own" in found.remedy
    assert found.remedy[-1] == f"{AGAIN} --remedy guard"
    first, second = found.evidence["each"]
    assert (first["result"], first["missed"], first["meetings"]) == ("fx-error", [], 3)
    assert (second["result"], second["start"]) == ("clean", "in turn")
    assert found.evidence["results"] == {"fx-error": 1}


def test_the_guard_is_not_advised_where_it_was_tried_or_has_nothing_to_do():
    for given in ({"remedy": "guard"}, {"flag": "thread-local"}):
        remedy = judge(tried(DIED), **given)[0].remedy
        assert GUARD not in remedy
        assert remedy[0] == "move to torch 2.14 or newer, whose flag is each thread's own"
    assert judge(tried(DIED), remedy="force")[0].message.startswith(f"{SETTING.name} (with the remedy force): the FX")


def test_a_deadlock_names_both_threads():
    (found,) = judge(tried(failure=ended(stacks=STACKS)))
    assert found.message == (
        f"{SETTING.name}: a deadlock in 1 of 1 try; "
        "dynamo's compile lock against a backward graph that autograd's thread compiles late"
    )
    told = found.evidence["each"][0]
    assert told["holder"][0] == "/e/torch/autograd/graph.py:1 in _engine_run_backward"
    assert told["waiter"] == ["/e/torch/_inductor/compile_fx.py:1 in compile_fx_backward"]
    assert told["stacks"] == STACKS.splitlines()
    assert any("warm the cache" in step for step in found.remedy)
    assert GUARD not in found.remedy


def test_a_hang_elsewhere_names_its_place():
    stacks = 'Thread 1 (most recent call first):\n  File "/job/a.py", line 7 in work\n'
    (found,) = judge(tried(failure=ended(stacks=stacks)), limit=90.0)
    assert found.message.endswith("no end in time in 1 of 1 try; no end within 120 s, at /job/a.py:7 in work")
    assert found.remedy == (f"{AGAIN} --timeout 450",)
    assert judge(tried(failure=ended()))[0].message.endswith("and it told no stacks")


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (
            tried(failure=ended("died", "the process died by SIGSEGV")),
            "a crash in 1 of 1 try; the process died by SIGSEGV",
        ),
        (tried(BROKEN), "another error in 1 of 1 try; InductorError: no gcc"),
        (tried(failure=raised("OSError: no\nroom")), "another error in 1 of 1 try; OSError: no"),
        (tried(replace(TOLD, again=("KeyError: 7",))), "another error in 1 of 1 try; KeyError: 7"),
        (
            tried(replace(TOLD, figures={"bfloat16": 0.5})),
            "wrong numbers in 1 of 1 try; in bfloat16 off by 5.0e-01 of its norm; up to 2e-02 is rounding",
        ),
    ],
)
def test_what_else_went_wrong_is_said_and_leads_to_the_plain_smoke(one, said):
    (found,) = judge(one)
    assert found.message == f"{SETTING.name}: {said}"
    assert found.remedy == ("envdoctor smoke --target /env --devices cpu",)


def test_a_known_error_has_its_own_cure():
    broken = (Thread("cuda:0", 0, "RuntimeError", "no kernel image is available for execution on the device"),)
    assert judge(tried(replace(TOLD, threads=broken)))[0].remedy[0] == "envdoctor check --select cuda"


def test_a_flag_that_stays_set_is_cured_as_the_error_is():
    (found,) = judge(tried(replace(TOLD, flag_left=True)))
    assert "an FX-tracing flag that stays set in 1 of 1 try" in found.message
    assert found.remedy[0] == GUARD


def test_settings_that_are_clean_skipped_or_show_nothing_are_silent():
    settings = (SETTING, Setting(3, "cold"), Setting(3, "warm"))
    tries = (tried(), tried(replace(TOLD, meetings=0), settings[1]))
    assert judge(*tries, settings=settings, lost={settings[2]: ("no", False)}) == []


def test_a_cache_that_could_not_be_filled_is_told_by_its_error():
    (found,) = judge(tried(), attempts=[attempt("threads", raised("OSError: no room"), "filling the cache")])
    assert (found.subject, found.message) == (
        "filling the cache",
        "filling the cache: threads failed: OSError: no room",
    )


def test_evidence_of_very_many_tries_is_bounded_and_json():
    told = replace(DIED, evidence={"errors": [{"error": "x"}] * 8, "met": ["m"], "compiles": [[0.5, 2.5]]})
    (found,) = judge(*(tried(told, number=number) for number in range(1, 101)))
    each = found.evidence["each"]
    assert (len(each), len(each[0]["errors"]), [key for key in each[3] if key in ("errors", "met")]) == (100, 3, [])
    assert len(json.dumps(found.evidence)) < 100_000


def test_what_a_process_that_died_printed_is_evidence():
    (found,) = judge(tried(failure=ended("died", "the process died by SIGABRT", printed="terminate called\nwhat()")))
    assert found.evidence["each"][0]["printed"] == ["terminate called", "what()"]
