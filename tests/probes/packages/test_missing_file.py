"""A file that RECORD lists and the disk does not have is an error of its package."""

import pytest
from values import PIP, distribution, distributions, files, findings, lock, state

from envdoctor.model import Severity
from envdoctor.probes.packages.missing_file import check

SIX = distribution("six", "1.16.0")


def judge(**fields):
    return findings(check, files=files(state(SIX, **fields)), distributions=distributions(SIX, "pip"))


def test_one_file_is_named():
    (finding,) = judge(missing=["six.py"])
    assert (finding.severity, finding.subject) == (Severity.ERROR, "six")
    assert finding.message == "six.py of six 1.16.0 is not there"
    assert finding.remedy == (f"{PIP} install --force-reinstall --no-deps six==1.16.0",)


def test_many_are_one_finding_with_the_whole_count():
    (finding,) = judge(missing=["a.py", "b.py"], missing_count=900)
    assert finding.message == "900 files of six 1.16.0 are not there"
    assert (finding.evidence["count"], finding.evidence["paths"]) == (900, ["a.py", "b.py"])


def test_it_is_blamed_on_what_moved_the_package():
    stack = distribution("vllm", requires=["six==1.16.0"])
    given = {"distributions": distributions(SIX, stack), "lock": lock("six==1.15.0")}
    (finding,) = findings(check, files=files(state(SIX, missing=["six.py"])), **given)
    assert finding.evidence["cause"] == "vllm"


def test_healthy_neighbours():
    assert judge() == []
    assert judge(altered={"six.py": "size"}) == []
    strange = files(state(distribution("gone"), missing=["a.py"]))
    assert findings(check, files=strange) == [], "metadata that distributions does not know"


@pytest.mark.parametrize(
    "fields", [{"site": "/usr/lib/python3/dist-packages"}, {"installer": "debian"}], ids=["place", "installer"]
)
def test_packages_of_the_operating_system_are_a_note(fields):
    item = distribution("six", **fields)
    gone = files(state(item, missing=["six.py"]))
    (finding,) = findings(check, distributions=distributions(item), files=gone)
    assert (finding.severity, finding.remedy) == (Severity.NOTE, ())
