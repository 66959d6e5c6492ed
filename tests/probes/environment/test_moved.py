"""Scripts that name another place are an error; an odd stray is a warning; the system's Python is left alone."""

import pytest

from envdoctor.facts.launchers import Activation, Launchers, Script
from envdoctor.model import Severity, Target
from envdoctor.probes.environment.moved import check

TARGET = Target("/new", "/new/bin/python")
OWN = Script("/new/bin/pip", "/new/bin/python")
STALE = Script("/new/bin/tool", "/old/bin/python", exists=False, own=False)
COPIED = Script("/new/bin/tool", "/old/bin/python", exists=True, own=False, environment="/old")
SYSTEM = Script("/new/bin/tool", "/usr/bin/python3", exists=True, own=False)
FOREIGN = Activation("/new/bin/activate", "/old", own=False, exists=False)


def judge(*scripts, activations=()):
    return list(check(Launchers(scripts, tuple(activations), made_at="/old"), TARGET))


@pytest.mark.parametrize("script", [STALE, COPIED])
def test_scripts_that_name_another_place_are_one_error(script):
    (finding,) = judge(script, script)
    assert (finding.severity, finding.subject) == (Severity.ERROR, "/new")
    assert finding.evidence["count"] == 2
    assert finding.evidence["named"] == "/old"


def test_activate_alone_is_enough():
    (finding,) = judge(OWN, activations=[FOREIGN])
    assert finding.severity == Severity.ERROR
    assert "activate in /new/bin" in finding.message


def test_a_stray_among_sound_scripts_is_a_warning_about_the_script():
    (finding,) = judge(OWN, OWN, STALE)
    assert (finding.severity, finding.subject) == (Severity.WARNING, "/new/bin/tool")


@pytest.mark.parametrize(
    ("scripts", "activations"),
    [
        ([OWN], [Activation("/new/bin/activate", "/new", own=True)]),
        ([SYSTEM], []),
        ([Script("/new/bin/tool", None)], []),
        ([OWN], [Activation("/new/bin/activate", "/old", own=False, exists=False, relocates=True)]),
        ([], []),
    ],
    ids=["own", "system python", "looked up at run time", "activate that relocates", "nothing"],
)
def test_healthy_neighbours(scripts, activations):
    assert judge(*scripts, activations=activations) == []
