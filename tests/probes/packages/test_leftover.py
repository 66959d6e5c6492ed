"""Renamed remains of uninstalls are one warning for each directory, with their size."""

import shlex

from values import SITE, findings, owners

from envdoctor.facts.owners import Leftover
from envdoctor.model import Severity
from envdoctor.probes.packages.leftover import check


def judge(*leftovers):
    return findings(check, owners=owners(leftovers=leftovers))


def test_all_of_a_directory_are_one_warning_with_the_sum():
    (finding,) = judge(Leftover(f"{SITE}/~orch", 2_000_000_000), Leftover(f"{SITE}/~-rch", 500_000_000))
    assert (finding.severity, finding.subject) == (Severity.WARNING, SITE)
    assert finding.message == "2 leftovers of interrupted uninstalls, 2500.0 MB"
    assert finding.evidence["bytes"] == 2_500_000_000


def test_two_directories_are_two():
    assert [finding.subject for finding in judge(Leftover("/a/~x", 1), Leftover("/b/~x", 1))] == ["/a", "/b"]


def test_the_command_removes_nothing_but_them():
    (finding,) = judge(Leftover("/my env; x/~orch", 1))
    assert shlex.split(finding.remedy[-1]) == ["rm", "-r", "/my env; x/~*"]


def test_none_say_nothing():
    assert judge() == []
