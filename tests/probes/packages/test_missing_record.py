"""No RECORD, or none that can be read, is an error, except where another packager keeps the list of files."""

import pytest
from values import PIP, SITE, distribution, distributions, files, findings, state

from envdoctor.model import Severity
from envdoctor.probes.packages.missing_record import check

SIX = distribution("six", "1.16.0")


def judge(item, *states):
    return findings(check, distributions=distributions(item, "pip"), files=files(*states))


def test_no_record_is_an_error_that_only_an_install_over_it_cures():
    (finding,) = judge(distribution("six", "1.16.0", has_record=False))
    assert (finding.severity, finding.subject) == (Severity.ERROR, "six")
    assert finding.message == "six 1.16.0 has no RECORD, so its files cannot be checked"
    assert finding.remedy == (f"{PIP} install --ignore-installed --no-deps six==1.16.0",)


@pytest.mark.parametrize("problem", ["is not CSV: unexpected end of data", "cannot be read: Permission denied"])
def test_a_record_that_cannot_be_read_is_an_error_with_the_reason(problem):
    (finding,) = judge(SIX, state(SIX, problem=f"RECORD {problem}"))
    assert finding.message == f"six 1.16.0 has a RECORD that {problem}, so its files cannot be checked"
    assert finding.severity == Severity.ERROR


@pytest.mark.parametrize(
    "fields",
    [{"installer": "debian"}, {"installer": "conda"}, {"kind": "egg-info"}, {"kind": "egg"}],
    ids=["debian", "conda", "egg-info", "egg"],
)
def test_who_never_wrote_one_gets_a_note(fields):
    (finding,) = judge(distribution("six", has_record=False, metadata=f"{SITE}/six", **fields))
    assert (finding.severity, finding.remedy) == (Severity.NOTE, ())


@pytest.mark.parametrize(
    "item",
    [
        SIX,
        distribution("six", kind="egg-link", has_record=False),
        distribution("six", site="/usr/lib/python3/dist-packages", origin="system-site", has_record=False),
    ],
    ids=["recorded", "development link", "the system's"],
)
def test_healthy_neighbours(item):
    assert judge(item, state(SIX)) == []
