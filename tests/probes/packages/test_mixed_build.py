"""torch's metadata against its own files."""

import pytest
from values import distributions, findings

from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Severity
from envdoctor.probes.packages.mixed_build import check


def judge(metadata, build):
    return findings(check, distributions=distributions(metadata, "pip"), torch_build=TorchBuild("/v.py", build))


def test_two_labels_are_parts_of_two_builds():
    (finding,) = judge("torch==2.11.0+cu128", "2.11.0+cpu")
    assert (finding.severity, finding.subject) == (Severity.ERROR, "torch")
    assert "2.11.0+cu128" in finding.message
    assert "2.11.0+cpu" in finding.message


@pytest.mark.parametrize(
    ("metadata", "build"),
    [
        ("torch==2.15.0", "2.15.0+cu132"),
        ("torch==2.11.0+cu128", "2.11.0+cu128"),
        ("torch==2.11.0+cu128", "2.11.0"),
        ("numpy==2.0", "2.11.0+cpu"),
    ],
    ids=["as the index has it", "the same", "a build without label", "no torch installed"],
)
def test_healthy_neighbours(metadata, build):
    assert judge(metadata, build) == []
