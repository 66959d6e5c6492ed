"""Each entry of PYTHONPATH is judged by what it holds."""

import pytest
from values import distributions, findings

from envdoctor.facts.startup import PythonPathEntry, Startup
from envdoctor.model import Severity
from envdoctor.probes.environment.pythonpath import check


def judge(*entries, **facts):
    found = findings(check, startup=Startup(pythonpath=entries), **facts)
    return [(finding.severity, finding.subject) for finding in found]


def entry(*, exists=True, inside=False, **changes):
    return PythonPathEntry("/extra", exists, inside, **changes)


@pytest.mark.parametrize(
    ("given", "severity"),
    [
        ({"environment": "/other", "distributions": 90, "modules": ("torch",)}, Severity.ERROR),
        ({"environment": "/other"}, Severity.ERROR),
        ({"distributions": 2}, Severity.WARNING),
        ({"distributions": 2, "project": "/extra"}, Severity.WARNING),
        ({"modules": ("torch",)}, Severity.WARNING),
        ({"modules": ("mine",), "project": "/extra"}, Severity.NOTE),
        ({"exists": False}, Severity.NOTE),
    ],
)
def test_entries_outside_the_environment(given, severity):
    assert judge(entry(**given)) == [(severity, "/extra")]


@pytest.mark.parametrize(
    ("given", "severity"),
    [({}, Severity.ERROR), ({"project": "/extra"}, Severity.NOTE), ({"distributions": 2}, Severity.WARNING)],
)
def test_modules_that_hide_an_installed_package_are_an_error_unless_they_are_a_project(given, severity):
    changes = {"modules": ("mine", "Typing_Extensions")} | given
    assert judge(entry(**changes), distributions=distributions("typing-extensions")) == [(severity, "/extra")]


@pytest.mark.parametrize("given", [{}, {"inside": True, "distributions": 90, "modules": ("torch",)}])
def test_an_entry_that_changes_nothing_says_nothing(given):
    assert judge(entry(**given)) == []


def test_one_finding_an_entry():
    gone = entry(exists=False)
    assert len(judge(gone, entry(modules=("a",)), entry(), entry(environment="/other"))) == 3
