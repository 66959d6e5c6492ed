"""What a package requires and does not find is an error of the one that requires."""

import pytest
from values import NO_LOCK, PIP, distribution, distributions, findings, lock

from envdoctor.model import Severity
from envdoctor.probes.packages.broken_requirement import check

APP = distribution("app", requires=["torch>=2.10; python_version >= '3.9'"])
UNLOCK = lock("torch==2.9.0")


def judge(*items, given=NO_LOCK):
    return findings(check, distributions=distributions(*items, "pip"), lock=given)


@pytest.mark.parametrize(
    ("installed", "said"),
    [([], "torch is not installed"), (["torch==2.9.0+cu128"], "torch 2.9.0+cu128 is installed")],
)
def test_an_absent_or_unfit_requirement_is_an_error(installed, said):
    (finding,) = judge(APP, *installed)
    assert (finding.severity, finding.subject) == (Severity.ERROR, "app")
    assert finding.message == f"app requires torch>=2.10, and {said}"
    assert finding.remedy == (f"{PIP} install 'torch>=2.10'",)


def test_several_are_one_finding_led_by_what_is_absent():
    app = distribution("app", requires=["torch>=2.10", "zlib-ng"])
    (finding,) = judge(app, "torch==2.9.0")
    assert finding.message == "app requires zlib-ng, and zlib-ng is not installed, and 1 more"
    assert [row["name"] for row in finding.evidence["requirements"]] == ["torch", "zlib-ng"]


def test_it_is_blamed_on_whoever_moved_the_requirement():
    vllm = distribution("vllm", requires=["torch==2.9.1"])
    found = judge(APP, vllm, "torch==2.9.1", given=lock("app==1.0", "torch==2.10.0"))
    assert [(finding.subject, finding.evidence["cause"]) for finding in found] == [("app", "vllm")]


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        (lock("torch==2.9.0"), f"{PIP} uninstall app"),
        (lock("app==1.0", "torch==2.10.0"), "bring both packages back to the lock"),
        (lock("app==1.0"), f"{PIP} install 'torch>=2.10'"),
    ],
    ids=["a foreigner's", "both locked", "the lock forgot it"],
)
def test_the_advice_never_breaks_the_lock(given, advice):
    (finding,) = judge(APP, *(["torch==2.9.0"] if "torch" in str(given.packages) else []), given=given)
    assert finding.remedy[0].startswith(advice)


@pytest.mark.parametrize(
    "items",
    [
        [APP, "torch==2.11.0+cu128"],
        [distribution("app", requires=["torch; sys_platform == 'win32'"])],
        [distribution("app", requires=["torch; extra == 'gpu'"])],
        [APP, distribution("torch", None)],
        [distribution("app", requires=["not a requirement"])],
    ],
    ids=["satisfied", "other platform", "extra", "unreadable version", "not a requirement"],
)
def test_healthy_neighbours(items):
    assert judge(*items) == []
