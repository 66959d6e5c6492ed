"""A report's verdict and status follow from its outcomes."""

from datetime import UTC, datetime

import pytest

from envdoctor.model import Finding, Outcome, Report, Severity, Unavailable

NOTE, WARNING, ERROR = (Outcome("p", (Finding(severity, "s", "m"),)) for severity in Severity)
MUTED = Outcome("p", muted=ERROR.findings)
NOTHING_TO_READ = Outcome("p", skipped=Unavailable("no lock"))
FAILED = Outcome("p", skipped=Unavailable("deadline", failed=True))
CRASHED = Outcome("p", crashed="ValueError: x")


def report(*outcomes):
    return Report(None, None, "node7", datetime(2026, 1, 1, tzinfo=UTC), 0.1, outcomes)


@pytest.mark.parametrize(
    ("outcomes", "verdict", "statuses"),
    [
        ([], "healthy", (0, 0, 0)),
        ([NOTE], "healthy", (1, 0, 0)),
        ([WARNING, NOTE], "warnings", (1, 1, 0)),
        ([NOTE, ERROR, WARNING], "sick", (1, 1, 1)),
        ([MUTED], "healthy", (0, 0, 0)),
        ([NOTHING_TO_READ], "healthy", (0, 0, 0)),
        ([FAILED], "warnings", (3, 3, 3)),
        ([CRASHED], "warnings", (3, 3, 3)),
        ([CRASHED, FAILED, WARNING], "warnings", (1, 1, 3)),
        ([FAILED, ERROR], "sick", (1, 1, 1)),
    ],
)
def test_verdict_and_status(outcomes, verdict, statuses):
    found = report(*outcomes)
    assert (found.verdict, tuple(found.status(limit) for limit in Severity)) == (verdict, statuses)


def test_findings_are_worst_first_and_otherwise_in_order():
    first, second = Outcome("a", ERROR.findings), Outcome("b", ERROR.findings)
    assert [probe for probe, _ in report(NOTE, first, WARNING, second).findings()] == ["a", "b", "p", "p"]


def test_severities_have_the_words_of_the_command_line():
    assert [severity.label for severity in sorted(Severity)] == ["note", "warning", "error"]
