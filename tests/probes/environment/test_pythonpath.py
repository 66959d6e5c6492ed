"""Each entry of PYTHONPATH is judged by what it holds."""

import pytest

from envdoctor.facts.startup import PythonPathEntry, Startup
from envdoctor.model import Severity
from envdoctor.probes.environment.pythonpath import check


def judge(*entries):
    return [(finding.severity, finding.subject) for finding in check(Startup(pythonpath=entries))]


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


@pytest.mark.parametrize("given", [{}, {"inside": True, "distributions": 90, "modules": ("torch",)}])
def test_an_entry_that_changes_nothing_says_nothing(given):
    assert judge(entry(**given)) == []


def test_one_finding_an_entry():
    gone = entry(exists=False)
    assert len(judge(gone, entry(modules=("a",)), entry(), entry(environment="/other"))) == 3
