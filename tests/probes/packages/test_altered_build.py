"""The same version in another build, told by the RECORD digests and the torch build that were sealed."""

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


@pytest.mark.parametrize("now", [built("2.15.0+cpu"), built("2.15.0+cu132", git="def")], ids=["label", "commit"])
def test_torch_of_another_build_than_sealed_is_an_error(now):
    sealed = seal("six==1.0", "torch==2.15.0", torch_version="2.15.0+cu132", torch_git="abc")
    (finding,) = findings(check, distributions=distributions("torch==2.15.0"), torch_build=now, seal=sealed)
    assert (finding.severity, finding.evidence["sealed"]) == (Severity.ERROR, "2.15.0+cu132")


SEALED = seal("torch==2.15.0", torch_version="2.15.0+cu132", torch_git="abc")


@pytest.mark.parametrize("version", ["2.15.0", "2.14.0"], ids=["as sealed", "another version is drift"])
def test_healthy_neighbours(version):
    installed = distributions(f"torch=={version}")
    assert findings(check, distributions=installed, torch_build=built("2.15.0+cu132"), seal=SEALED) == []


def test_torch_with_another_record_is_one_finding():
    torch = distribution("torch", "2.15.0")
    given = {"distributions": distributions(torch), "files": files(rebuilt=(torch.metadata,))}
    (finding,) = findings(check, torch_build=built("2.15.0+cpu"), seal=SEALED, **given)
    assert finding.evidence["metadata"] == torch.metadata
