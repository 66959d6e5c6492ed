"""A report's exit status: findings outrank the doctor's own failure, and only what reaches the level counts."""

import pytest
from values import finding, outcome, report

from envdoctor.model import Severity, Unavailable

ERROR, WARNING, NOTE = reversed(Severity)
FAILED = outcome("a/failed", skipped=Unavailable("deadline", failed=True))
SKIPPED = outcome("a/skipped", skipped=Unavailable("no lock"))
CRASHED = outcome("a/crashed", crashed="KeyError: 'x' (y.py:1)")
MUTED = outcome("a/muted", muted=(finding(),))


@pytest.mark.parametrize(
    ("found", "level", "status"),
    [
        (ERROR, ERROR, 1),
        (WARNING, ERROR, 0),
        (WARNING, WARNING, 1),
        (NOTE, WARNING, 0),
        (NOTE, NOTE, 1),
    ],
)
def test_findings_at_or_above_the_level_are_1(found, level, status):
    assert report(outcome("a/b", finding(severity=found))).status(level) == status


@pytest.mark.parametrize(
    ("given", "status"), [((), 0), ((SKIPPED,), 0), ((MUTED,), 0), ((FAILED,), 3), ((CRASHED,), 3)]
)
def test_what_the_doctor_could_not_do_is_3_and_what_did_not_apply_is_0(given, status):
    assert report(outcome("a/b"), *given).status() == status


def test_1_outranks_3():
    assert report(FAILED, CRASHED, outcome("a/b", finding())).status() == 1
    assert report(CRASHED, outcome("a/b", finding(severity=WARNING))).status() == 3
