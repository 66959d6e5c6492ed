"""A mute is in force through its last day, and a warning after it."""

from datetime import UTC, date, datetime

import pytest
from values import findings

from envdoctor.model import Severity
from envdoctor.policy import Mute, Policy
from envdoctor.probes.policy.expired_mute import check

LAST = date(2026, 6, 2)


def judge(*mutes, moment=datetime(2026, 6, 3, tzinfo=UTC)):
    return findings(check, policy=Policy(path="/project/envdoctor.toml", mutes=mutes), moment=moment)


def test_a_mute_past_its_date_is_a_warning_that_names_file_and_reason():
    (finding,) = judge(Mute("packages/foreign", "until the move", "sgl*", LAST))
    assert (finding.severity, finding.subject) == (Severity.WARNING, "packages/foreign")
    assert finding.message == "the mute of packages/foreign for sgl* ended on 2026-06-02"
    assert finding.evidence["why"] == "until the move"
    assert finding.remedy[0].startswith("edit /project/envdoctor.toml:")


@pytest.mark.parametrize("until", [None, date(2026, 6, 3), date(2027, 1, 1)], ids=["no end", "today", "later"])
def test_healthy_neighbours(until):
    assert judge(Mute("packages/foreign", "known", until=until)) == []


def test_the_last_day_ends_at_midnight():
    mute = Mute("packages/foreign", "known", until=LAST)
    assert judge(mute, moment=datetime(2026, 6, 2, 23, 59, tzinfo=UTC)) == []
