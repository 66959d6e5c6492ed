"""The report of threads that raced: a line a setting, advice once, and nothing of a target's that a terminal obeys."""

import unicodedata

import pytest
from values import finding, outcome, report

from envdoctor.model import Trial, Unavailable
from envdoctor.reports.smoke import render
from envdoctor.reports.text import Style

COLD, WARM = "1 thread a device, cold cache", "16 threads a device, partly warm cache"
SEEN = {
    "torch": "2.11.0",
    "level": "threads",
    "cache": "throw-away caches",
    "tries": "3 tries each",
    "remedy": "remedy none",
    "flag": "one for the whole process",
}
GUARD = ("run it under the guard", "move to torch 2.14 or newer")


def trial(device=COLD, state="passed", said="clean in 3 of 3 tries"):
    return Trial("smoke/threads", device, state, 31.0, said)


def sick(device, **fields):
    return finding(device, message=f"{device}: the FX error in 3 of 3 tries", **{"remedy": GUARD} | fields)


IMPORT = Trial("smoke/torch-import", "torch", "passed", 4.1, "")


def rendered(*trials, outcomes=(), style=None, **fields):
    found = report(*(outcomes or [outcome("smoke/threads")]), trials=(IMPORT, *trials), **{"seen": SEEN} | fields)
    return render(found, style)


def test_a_line_a_setting_below_what_was_tried():
    said = rendered(trial(), trial(WARM, "skipped", "3 of 3 not exercised: nothing was traced"), seconds=98.1)
    assert said == (
        "HEALTHY  of 2 settings 1 passed, 1 skipped\n"
        "/env: Python 3.12.3, torch 2.11.0\n"
        "level threads, throw-away caches, 98.1 s\n"
        "3 tries each, remedy none\n"
        "the FX-tracing flag of this torch is one for the whole process\n"
        "\n"
        "torch-import                            ok      4.1 s\n"
        "1 thread a device, cold cache           ok      clean in 3 of 3 tries\n"
        "16 threads a device, partly warm cache  skipped 3 of 3 not exercised: nothing was traced\n"
    )


def test_advice_that_is_the_same_is_given_once():
    failed = [trial(name, "failed", f"{name}: the FX error in 3 of 3 tries") for name in (COLD, WARM, "x")]
    found = outcome("smoke/threads", sick(COLD), sick(WARM), sick("x", remedy=("unset CC",)))
    said = rendered(*failed, outcomes=[found])
    assert said.count("ERROR ") == 3
    assert [said.count(step) for step in (*GUARD, "unset CC")] == [1, 1, 1]
    assert "1 thread a device, cold cache           FAILED  the FX error in 3 of 3 tries\n" in said


def test_a_narrow_terminal_has_the_words_below_each_other():
    said = rendered(trial(said="clean in 3 of 3 tries; 9 calls met another thread's trace"), style=Style(width=80))
    assert max(map(len, said.splitlines())) <= 80
    first, second = said.splitlines()[-2:]
    assert first.endswith("ok      clean in 3 of 3 tries; 9 calls")
    assert second == " " * 48 + "met another thread's trace"


def test_colour_marks_the_states_alone():
    said = rendered(trial(state="failed", said="x: y"), style=Style(colour=True))
    assert "\x1b[31;1mFAILED  \x1b[0my\n" in said


def test_what_was_not_smoked_at_all_says_why():
    lost = outcome("smoke/threads", skipped=Unavailable("not smoked: no GPU is visible", failed=True))
    given = report(lost, seen={"level": "threads"}, failed={"smoke": "not smoked: no GPU is visible"})
    assert render(given).startswith("NOT SMOKED\n")
    assert "no GPU is visible" in render(given)


@pytest.mark.parametrize("style", [None, Style(width=80, colour=False)])
def test_nothing_that_a_terminal_would_obey(style):
    evil = "x\x1b[2J\u202etxt"
    said = rendered(
        trial(evil, said=evil), trial(evil, "failed", f"{evil}: {evil}"), seen={**SEEN, "flag": evil}, style=style
    )
    assert not [c for c in said if unicodedata.category(c) in ("Cc", "Cf") and c != "\n"]
