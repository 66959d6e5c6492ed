"""Two dist-infos of one name in one directory are an error; copies in two directories are packages/shadowed."""

import pytest
from values import NO_LOCK, PIP, SITE, distribution, distributions, findings, lock

from envdoctor.model import Severity
from envdoctor.probes.packages.duplicate_metadata import check

SYSTEM = "/usr/lib/python3/dist-packages"


def judge(*items, given=NO_LOCK):
    return findings(check, distributions=distributions(*items, "pip"), lock=given)


def test_two_of_one_name_are_an_error():
    (finding,) = judge("six==1.15.0", "six==1.16.0", "other")
    assert (finding.severity, finding.subject) == (Severity.ERROR, "six")
    assert "versions 1.15.0 and 1.16.0" in finding.message
    assert finding.evidence["directories"] == [f"{SITE}/six-1.15.0.dist-info", f"{SITE}/six-1.16.0.dist-info"]


def test_spellings_of_a_name_are_one_name():
    (finding,) = judge("ruamel.yaml==1", "ruamel_yaml==2")
    assert finding.subject == "ruamel-yaml"


@pytest.mark.parametrize(
    ("versions", "given", "back"),
    [
        (["1.15.0", "1.16.0"], NO_LOCK, "six==1.16.0"),
        (["1.15.0", "1.16.0"], lock("six==1.14.0"), "six==1.14.0"),
        (["1.15.0", None], NO_LOCK, "six==1.15.0"),
        ([None, None], NO_LOCK, "six"),
    ],
)
def test_each_is_removed_and_a_version_that_exists_comes_back(versions, given, back):
    items = [distribution("six", version, metadata=f"{SITE}/six-{n}.dist-info") for n, version in enumerate(versions)]
    (finding,) = judge(*items, given=given)
    assert finding.remedy == (
        *[f"{PIP} uninstall six"] * 2,
        f"{PIP} install --force-reinstall --no-deps {back}",
    )


@pytest.mark.parametrize(
    "items",
    [
        ["six==1.16.0"],
        ["six==1.16.0", distribution("six", "1.15.0", site=SYSTEM, origin="system-site")],
        [distribution("six", version, site=SYSTEM, origin="system-site") for version in ("1.15.0", "1.16.0")],
    ],
    ids=["one", "two directories", "the system's own affair"],
)
def test_healthy_neighbours(items):
    assert judge(*items) == []


@pytest.mark.parametrize(
    ("installers", "severity"), [(["debian", "debian"], Severity.NOTE), (["debian", "pip"], Severity.ERROR)]
)
def test_two_of_the_operating_systems_own_are_a_note(installers, severity):
    items = [distribution("six", f"1.{n}", installer=installer) for n, installer in enumerate(installers)]
    (finding,) = judge(*items)
    assert (finding.severity, bool(finding.remedy)) == (severity, severity == Severity.ERROR)
