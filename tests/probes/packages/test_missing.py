"""What the lock wants for this target and an import would not find is an error."""

from dataclasses import replace

import pytest
from values import PIP, distribution, distributions, findings, lock, pin

from envdoctor.model import Severity
from envdoctor.probes.packages.missing import check


def judge(given, *items):
    return findings(check, distributions=distributions(*items, "pip"), lock=given)


def test_a_wanted_package_that_is_not_there_is_an_error():
    (finding,) = judge(lock(pin("six==1.16.0", line=4)), distribution("app", requires=["six"]))
    assert (finding.severity, finding.subject) == (Severity.ERROR, "six")
    assert finding.message == "six 1.16.0 is in the lock and not installed"
    assert (finding.evidence["line"], finding.evidence["required_by"]) == (4, ["app"])
    assert finding.remedy == (f"{PIP} install --force-reinstall --no-deps six==1.16.0",)


def test_a_pin_without_version_is_named_all_the_same():
    (finding,) = judge(lock(pin("six", source="vcs")))
    assert finding.message == "six is in the lock and not installed"


@pytest.mark.parametrize(
    ("given", "items"),
    [
        (lock("six==1.0"), ["six==2.0"]),
        (lock("six==1.0"), [distribution("six", site="/usr/lib/python3/dist-packages", origin="system-site")]),
        (lock(pin("six==1.0", marker="sys_platform == 'win32'")), []),
        (lock(pin("six==1.0", marker="'dev' in dependency_groups")), []),
        (lock("mine==1.0", project="mine"), []),
        (lock(pin("mine==1.0", source="virtual")), []),
    ],
    ids=["drifted", "elsewhere on the path", "other platform", "group not asked for", "own project", "virtual"],
)
def test_healthy_neighbours(given, items):
    assert judge(given, *items) == []


def test_where_nobody_recorded_who_asks_for_it_it_is_a_note():
    given = replace(lock("six==1.16.0"), unsaid="the lock does not say it")
    (finding,) = judge(given)
    assert finding.severity == Severity.NOTE
    assert finding.message == (
        "six 1.16.0 is in the lock and not installed, if it is wanted at all: the lock does not say it"
    )
