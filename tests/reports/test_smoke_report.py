"""The report of a smoke run: the verdict, a table of steps and devices, causes and cures."""

import re
import unicodedata

import pytest
from values import finding, outcome, report

from envdoctor.model import Trial, Unavailable
from envdoctor.reports.smoke import render
from envdoctor.reports.text import Style

SEEN = {"torch": "2.11.0+cu130", "level": "quick", "cache": "a throw-away cache"}
EVIL = "x\x1b[2J\u202etxt\n"


def trial(step="compile", device="cuda:0", state="passed", seconds=12.34, said=""):
    return Trial(f"smoke/{step}", device, state, seconds, said)


def rendered(*trials, outcomes=(), style=None, **fields):
    given = {"seen": SEEN, "seconds": 31.4} | fields
    return render(report(*(outcomes or [outcome("smoke/compile")]), trials=trials, **given), style)


def never(device="cuda:1"):
    """Return the trial and the outcome of a step that was not reached."""
    lost = Unavailable(f"{device}: it was not reached", failed=True)
    return trial(device=device, state="never-ran", seconds=0), outcome("smoke/compile", skipped=lost)


def sick(**fields):
    """Return the outcome of a step that failed."""
    return outcome("smoke/compile", finding("cuda:0", message="cuda:0: compile failed: it broke", **fields))


def test_one_device_has_what_each_step_said_beside_it():
    said = rendered(trial("device", said="NVIDIA H100", seconds=0.5), trial(said="float32 off by 2e-07"))
    assert said == (
        "HEALTHY  of 2 steps 2 passed\n"
        "/env: Python 3.12.3, torch 2.11.0+cu130\n"
        "level quick, a throw-away cache, 31.4 s\n"
        "\n"
        "                  cuda:0\n"
        "device            ok        0.5 s NVIDIA H100\n"
        "compile           ok       12.3 s float32 off by 2e-07\n"
    )


def test_several_devices_have_a_column_each():
    said = rendered(trial("device"), trial(), trial("device", "cuda:1", said="NVIDIA H100"))
    head, device, compiled = said.splitlines()[4:7]
    assert [head.index(name) for name in ("cuda:0", "cuda:1")] == [18, 34]
    assert [match.start() for match in re.finditer("ok", device)] == [18, 34]
    assert [match.start() for match in re.finditer("ok", compiled)] == [18], "a step that one has not is blank there"
    assert "NVIDIA H100" not in said


def test_what_failed_has_its_paragraph():
    shown = {"last_lines": ["error: one", "  two"], "stacks": ["File a"], "printed": ["p"]}
    said = rendered(trial(state="failed", said="told below"), outcomes=[sick(**shown, remedy=["unset CC"])])
    assert said.startswith("SICK  of 1 step 1 failed\n")
    assert "compile           FAILED   12.3 s\n" in said
    assert "ERROR    cuda:0: compile failed: it broke\n         | error: one\n         |   two\n" in said
    assert "next: $ unset CC\n" in said
    assert "File a" not in said


def test_what_never_ran_is_counted_and_told():
    lost, judged = never()
    said = rendered(trial(), lost, outcomes=[judged])
    assert said.startswith("WARNINGS  of 2 steps 1 passed, 1 never ran\n")
    assert "compile           ok       12.3 s -\n" in said
    assert said.endswith("unproven cuda:1: it was not reached: smoke/compile\n")


def test_what_does_not_apply_is_skipped():
    judged = outcome("smoke/arch", skipped=Unavailable("cpu: a CPU has none"))
    said = rendered(trial("arch", "cpu", "skipped", 0, "a CPU has none"), outcomes=[judged])
    assert said.startswith("HEALTHY  of 1 step 1 skipped\n")
    assert "arch              skipped         a CPU has none\n" in said
    assert said.endswith("skipped  cpu: a CPU has none: smoke/arch\n")


def test_a_run_without_trials_is_not_smoked():
    judged = outcome("smoke/compile", skipped=Unavailable("not smoked: no GPU is visible", failed=True))
    said = rendered(outcomes=[judged], seen={"level": "full"}, failed={"smoke": "not smoked: no GPU is visible"})
    assert said == "NOT SMOKED\n/env: Python 3.12.3\nlevel full, 31.4 s\n\nnot smoked: no GPU is visible\n"


def test_what_was_tried_out_once_stands_in_the_first_column():
    said = rendered(trial("torch-import", device="torch"), trial(), trial(device="cuda:1"))
    rows = said.split("\n\n")[1].split("\n")
    assert rows[0].split() == ["cuda:0", "cuda:1"]
    assert rows[1].split() == ["torch-import", "ok", "12.3", "s"]


def test_without_a_target_there_is_no_line_of_it():
    assert rendered(trial(), target=None).splitlines()[1] == "level quick, a throw-away cache, 31.4 s"


class TestStyle:
    GIVEN = (trial(), trial("half", state="failed"), trial("arch", state="skipped"), never()[0])

    def test_no_colour_unless_asked_for(self):
        plain = rendered(*self.GIVEN, outcomes=[sick()])
        assert "\033" not in plain
        coloured = rendered(*self.GIVEN, outcomes=[sick()], style=Style(colour=True))
        assert "\033[31;1mFAILED \033[0m" in coloured
        assert "\033[32mok     \033[0m" in coloured
        assert re.sub(r"\033\[[\d;]*m", "", coloured).split() == plain.split()

    @pytest.mark.parametrize("count", [1, 3, 4, 8])
    def test_a_width_holds_every_line(self, count):
        devices = [f"cuda:{number}" for number in range(count)]
        trials = [trial(step, device, said="x" * 90) for device in devices for step in ("device", "compile")]
        seen = SEEN | {"cache": "a cache " * 20}
        said = rendered(*trials, style=Style(80), seen=seen)
        assert [line for line in said.splitlines() if len(line) > 80] == []
        assert said.count("ok ") == 2 * count
        assert [said.count(device) for device in devices] == [1] * count

    @pytest.mark.parametrize("width", [1, 20, 40])
    def test_no_width_is_too_narrow(self, width):
        assert "compile           ok" in rendered(trial(said="x" * 90), trial("half"), style=Style(width))

    def test_without_a_width_devices_stand_in_one_line(self):
        said = rendered(*(trial(device=f"cuda:{number}") for number in range(8)))
        assert said.count("compile ") == 1

    def test_long_words_of_a_step_are_cut(self):
        assert f"s {'x' * 60}\n" in rendered(trial(said="x" * 90))


def test_nothing_that_came_from_outside_can_harm_a_terminal():
    given = trial(EVIL, EVIL, "skipped", 0, EVIL)
    seen = {"torch": EVIL, "level": "quick", "cache": EVIL}
    said = rendered(given, seen=seen, python=EVIL)
    assert said.count(r"x\x1b[2J\u202etxt\x0a") == 6
    kinds = {unicodedata.category(char) for char in said.replace("\n", "")}
    assert kinds & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} == set()
