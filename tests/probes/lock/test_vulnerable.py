"""Releases with known vulnerabilities."""

import pytest
from locked import audited, read, told
from values import view

from envdoctor.model import Severity, Unavailable
from envdoctor.probes.lock.vulnerable import check
from envdoctor.views.lock_online import Advisory, LockOnline


def advisory(number=1, fixed=("3.1.6",), score=None, name="jinja2", version="3.1.4"):
    return Advisory(f"CVE-2026-{number}", name, version, fixed, (f"GHSA-{number}",), score)


def found(*advisories, text="six==1.17.0\njinja2==3.1.4\n"):
    return audited(check, text, lock_online=LockOnline(advisories=advisories))


def test_one_finding_with_all_advisories():
    (finding,) = said = found(advisory(1), advisory(2, ("2.11.3", "3.1.5", "4.0")))
    assert (finding.severity, told(said)) == (Severity.ERROR, [("jinja2", 2)])
    assert finding.message == "jinja2 3.1.4 has 2 known vulnerabilities: CVE-2026-1, CVE-2026-2; fixed in 3.1.6"
    assert finding.evidence["advisories"] == {"CVE-2026-1": ["GHSA-1"], "CVE-2026-2": ["GHSA-2"]}
    assert finding.remedy == ("lock jinja2 3.1.6 or a later release",)


@pytest.mark.parametrize("fixed", [(), ("2.11.3",), ("weird version",)])
def test_no_release_is_fixed(fixed):
    (finding,) = found(advisory(1), advisory(2, fixed))
    assert "fixed in" not in finding.message
    assert finding.remedy[0].startswith("no release is known")


@pytest.mark.parametrize(
    ("scores", "severity"),
    [
        ((None,), "error"),
        ((7.0,), "error"),
        ((6.9,), "warning"),
        ((4.0,), "warning"),
        ((3.9,), "note"),
        ((3.9, 9.8), "error"),
    ],
)
def test_severity_is_that_of_the_worst(scores, severity):
    (finding,) = found(*(advisory(number, score=score) for number, score in enumerate(scores)))
    assert finding.severity.label == severity


def test_no_advisory_and_one_of_another_release():
    assert found() == []
    assert found(advisory(version="3.1.3")) == []


def test_without_an_answer_it_is_skipped_as_failed():
    answers = LockOnline(advisories_problem="pip-audit: no answer within 5 s")
    assert view("lock_advisories", lock=read("jinja2==3.1.4\n"), lock_online=answers) == Unavailable(
        "pip-audit: no answer within 5 s", failed=True
    )
