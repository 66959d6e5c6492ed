"""Without a lock: what came as a dependency and is needed by nothing is a warning."""

import pytest
from values import NO_LOCK, PIP, distribution, distributions, editable, findings, lock

from envdoctor.model import Severity
from envdoctor.policy import Policy
from envdoctor.probes.packages.orphan import check

APP = distribution("app", requested=True)
LEFT = distribution("left-over", "2.0")


def judge(*items, given=NO_LOCK, policy=Policy()):  # noqa: B008 - frozen
    return findings(check, distributions=distributions(*items, "pip"), lock=given, policy=policy)


def test_a_dependency_of_nobody_is_a_warning():
    (finding,) = judge(APP, LEFT)
    assert (finding.severity, finding.subject) == (Severity.WARNING, "left-over")
    assert finding.remedy == (f"{PIP} uninstall left-over",)


def test_what_requires_itself_alone_is_one_too():
    assert judge(APP, distribution("left-over", requires=["left-over[all]"]))


@pytest.mark.parametrize(
    "items",
    [
        [distribution("app", requested=True, requires=["left-over"]), LEFT],
        [APP, distribution("tool", requested=True)],
        [APP, distribution("mine", direct_url=editable())],
        [LEFT],
        [APP, distribution("left-over", installer="conda")],
        [APP, "setuptools", "gpu-envdoctor"],
        [APP, distribution("left-over", origin="system-site", site="/usr/lib/python3/dist-packages")],
    ],
    ids=["needed", "asked for", "direct", "nobody recorded", "another installer", "seeds", "the system's"],
)
def test_healthy_neighbours(items):
    assert judge(*items) == []


def test_a_lock_or_the_allow_list_answers_the_question():
    assert judge(APP, LEFT, given=lock("app==1.0")) == []
    assert judge(APP, LEFT, policy=Policy(allow=("left-*",))) == []
