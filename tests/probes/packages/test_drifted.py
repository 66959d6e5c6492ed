"""Another version, or another build of the same version, than the lock names."""

import pytest
from values import PIP, distribution, distributions, editable, findings, lock, pin, seal

from envdoctor.model import Artifact, Severity
from envdoctor.probes.packages.drifted import check

NAMED = (Artifact("torch-2.1.0-cp312-cp312-manylinux_2_28_x86_64.whl"),)


def judge(installed, given, **facts):
    found = findings(check, distributions=distributions(*installed, "pip==26.0"), lock=given, **facts)
    return [(finding.severity, finding.subject) for finding in found]


@pytest.mark.parametrize(
    ("installed", "locked", "severity"),
    [
        ("2.1.1", "2.1.0", Severity.ERROR),
        ("2.1.0+cpu", "2.1.0+cu121", Severity.ERROR),
        ("2.1.0", "2.1.0+cu121", Severity.ERROR),
        ("2.1.0+cpu", "2.1.0", Severity.ERROR),
        ("2.1.0+cu121", "2.1.0", Severity.WARNING),
        ("2.1.0rc1", "2.1.0", Severity.ERROR),
        ("nightly", "2.1.0", Severity.ERROR),
    ],
)
def test_drift(installed, locked, severity):
    assert judge([f"torch=={installed}"], lock(f"torch=={locked}")) == [(severity, "torch")]


@pytest.mark.parametrize(
    ("installed", "locked"), [("2.1", "2.1.0"), ("2.1.0+cu121", "2.1.0+CU121"), ("2.1.0.post1", "2.1.0-1")]
)
def test_two_spellings_of_one_version_are_no_drift(installed, locked):
    assert judge([f"torch=={installed}"], lock(f"torch=={locked}")) == []


def test_a_build_beside_a_lock_that_names_its_files_is_an_error():
    assert judge(["torch==2.1.0+cu121"], lock(pin("torch==2.1.0", artifacts=NAMED))) == [(Severity.ERROR, "torch")]


def test_the_finding_says_where_the_lock_says_so_and_forces_the_build_back():
    given = lock(pin("torch==2.1.0+cu121", line=7))
    (finding,) = findings(check, distributions=distributions("torch==2.1.0+cpu", "pip"), lock=given)
    assert (finding.evidence["file"], finding.evidence["line"]) == ("/project/train.txt", 7)
    assert "a plain install would leave as it is" in finding.message
    assert finding.remedy == (f"{PIP} install --force-reinstall --no-deps torch==2.1.0+cu121",)


def test_it_is_blamed_on_what_moved_it():
    vllm = distribution("vllm", requires=["torch==2.1.1"])
    (finding,) = findings(check, distributions=distributions(vllm, "torch==2.1.1"), lock=lock("torch==2.1.0"))
    assert finding.evidence["cause"] == "vllm"


@pytest.mark.parametrize(
    ("installed", "given"),
    [
        (["torch==2.1.0"], lock("torch==2.1.0")),
        ([], lock("torch==2.1.0")),
        (["six==1.0"], lock("torch==2.1.0")),
        ([distribution("torch", None)], lock("torch==2.1.0")),
        (["torch==2.1.0"], lock(pin("torch", source="vcs"))),
        ([distribution("mine", "2.0", direct_url=editable())], lock("mine==1.0", project="mine")),
        (["torch==1.0"], lock(pin("torch==2.1.0", marker="sys_platform == 'win32'"))),
        (["pytest==9.0"], lock(pin("pytest==8.0", marker="'a' in extras"), pin("pytest==9.0", marker="'b' in extras"))),
    ],
    ids=[
        "as locked",
        "absent",
        "foreign",
        "unreadable",
        "no version locked",
        "own project",
        "other platform",
        "any extra's pin",
    ],
)
def test_healthy_neighbours(installed, given):
    assert judge(installed, given) == []


class TestSeeds:
    def test_are_compared_with_a_lock_that_pins_them(self):
        found = judge(["setuptools==80.0"], lock("setuptools==81.0"), seal=seal("setuptools==80.0"))
        assert found == [(Severity.ERROR, "setuptools")]

    @pytest.mark.parametrize("now", [["setuptools==80.0"], []], ids=["moved", "gone"])
    def test_are_otherwise_compared_with_the_seal_as_a_note(self, now):
        assert judge(now, lock(), seal=seal("setuptools==81.0")) == [(Severity.NOTE, "setuptools")]

    def test_that_are_as_sealed_or_were_never_sealed_say_nothing(self):
        assert judge(["setuptools==81.0", "uv==1.0"], lock(), seal=seal("setuptools==81.0", "pip==26.0")) == []

    def test_without_a_seal_say_nothing(self):
        assert judge(["setuptools==80.0"], lock()) == []

    def test_the_seal_judges_nothing_else(self):
        assert judge(["torch==2.1.0"], lock("torch==2.1.0"), seal=seal("torch==2.0.0", "six==1.0")) == []
