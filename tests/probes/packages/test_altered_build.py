"""The same version in another build, told by the seal's RECORD digests or by torch's own two statements."""

import pytest
from values import PIP, distribution, distributions, files, findings, seal

from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Severity
from envdoctor.probes.packages.altered_build import check

SIX = distribution("six", "1.16.0")


def built(version, git="abc"):
    return TorchBuild("/env/torch/version.py", version, git=git)


def test_a_record_unlike_the_sealed_one_is_an_error():
    given = {"distributions": distributions(SIX, "other", "pip"), "files": files(rebuilt=(SIX.metadata,))}
    (finding,) = findings(check, seal=seal("six==1.16.0"), **given)
    assert (finding.severity, finding.subject) == (Severity.ERROR, "six")
    assert finding.evidence["sealed_at"] == "2026-01-01T00:00:00Z"
    assert finding.remedy == (f"{PIP} install --force-reinstall --no-deps six==1.16.0",)


def test_parts_of_two_torch_builds_need_no_seal():
    installed = distributions("torch==2.11.0+cu128")
    (finding,) = findings(check, distributions=installed, torch_build=built("2.11.0+cpu"))
    assert (finding.severity, finding.subject) == (Severity.ERROR, "torch")
    assert finding.evidence["version_py"] == "2.11.0+cpu"


@pytest.mark.parametrize("now", [built("2.15.0+cpu"), built("2.15.0+cu132", git="def")], ids=["label", "commit"])
def test_torch_of_another_build_than_sealed_is_an_error(now):
    sealed = seal("six==1.0", "torch==2.15.0", torch_version="2.15.0+cu132", torch_git="abc")
    (finding,) = findings(check, distributions=distributions("torch==2.15.0"), torch_build=now, seal=sealed)
    assert (finding.severity, finding.evidence["sealed"]) == (Severity.ERROR, "2.15.0+cu132")


@pytest.mark.parametrize(
    ("metadata", "version_py", "sealed"),
    [
        ("2.15.0", "2.15.0+cu132", None),
        ("2.15.0+cu132", "2.15.0", None),
        ("2.15.0", "2.15.0+cu132", seal("torch==2.15.0", torch_version="2.15.0+cu132", torch_git="abc")),
        ("2.14.0", "2.14.0+cu130", seal("torch==2.15.0", torch_version="2.15.0+cu132", torch_git="abc")),
    ],
    ids=["the index leaves the label out", "so may version.py", "as sealed", "another version is drift"],
)
def test_healthy_neighbours(metadata, version_py, sealed):
    given = {"seal": sealed} if sealed else {}
    installed = distributions(f"torch=={metadata}")
    assert findings(check, distributions=installed, torch_build=built(version_py), **given) == []


@pytest.mark.parametrize(
    "facts",
    [
        {"distributions": distributions("six"), "torch_build": built("2.11.0+cpu")},
        {"distributions": distributions("torch==2.11.0+cu128")},
    ],
    ids=["version.py alone", "metadata alone"],
)
def test_one_statement_of_the_build_contradicts_nothing(facts):
    assert findings(check, **facts) == []
