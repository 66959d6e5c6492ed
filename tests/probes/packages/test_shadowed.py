"""Two copies on the path: an error if they differ, a note if not."""

import pytest
from values import SITE, distribution, distributions, editable, findings

from envdoctor.model import Severity
from envdoctor.probes.packages.shadowed import check

SYSTEM = "/usr/lib/python3/dist-packages"


def system(name, version="1.0", **fields):
    return distribution(name, version, site=SYSTEM, origin="system-site", **fields)


def judge(*items):
    return findings(check, distributions=distributions(*items))


@pytest.mark.parametrize(
    ("hidden", "severity"), [("2.11.0+cpu", Severity.ERROR), ("2.11.0+cu128", Severity.NOTE), (None, Severity.ERROR)]
)
def test_a_hidden_copy_is_judged_by_its_version(hidden, severity):
    (finding,) = judge("torch==2.11.0+cu128", system("torch", hidden))
    assert (finding.severity, finding.subject) == (severity, "torch")
    assert finding.message.startswith(f"torch 2.11.0+cu128 in {SITE} hides ")
    assert [copy["location"] for copy in finding.evidence["copies"]] == [SITE, SYSTEM]
    assert bool(finding.remedy) == (severity == Severity.ERROR)


def test_one_copy_that_differs_is_enough():
    user = distribution("torch", "2.0", site="/home/me/.local", origin="user-site")
    (finding,) = judge("torch==2.11.0", user, system("torch", "2.11.0"))
    assert (finding.severity, len(finding.evidence["copies"])) == (Severity.ERROR, 3)


def test_pythonpath_before_the_venv_is_said_in_that_order():
    (finding,) = judge(distribution("torch", "2.0", site="/leak", origin="PYTHONPATH"), "torch==2.11.0")
    assert finding.message == f"torch 2.0 in /leak hides 2.11.0 in {SITE}"


def test_seeds_differ_as_a_matter_of_course():
    (finding,) = judge("pip==26.0", system("pip", "22.0"))
    assert finding.severity == Severity.NOTE


@pytest.mark.parametrize(
    "items",
    [
        ["torch==2.11.0", "six"],
        ["six==1", "six==2"],
        [distribution("mine", direct_url=editable()), distribution("mine", site="/home/me/project", origin="pth")],
    ],
    ids=["one each", "one directory", "editable and its sources"],
)
def test_healthy_neighbours(items):
    assert judge(*items) == []


def test_an_editable_of_another_version_is_no_excuse():
    mine = distribution("mine", "2.0", direct_url=editable())
    assert judge(mine, distribution("mine", "1.0", site="/home/me/project", origin="pth"))
