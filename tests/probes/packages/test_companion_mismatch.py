"""torch's companions: by release where their metadata is silent, by build label where both have one."""

import pytest
from values import PIP, distribution, distributions, findings, torch_build

from envdoctor.model import Severity
from envdoctor.probes.packages.companion_mismatch import check


def judge(*items, **facts):
    return findings(check, distributions=distributions(*items, "pip"), **facts)


def test_a_release_of_another_torch_is_an_error():
    (found,) = judge("torch==2.5.1", "torchvision==0.19.1")
    assert (found.severity, found.subject) == (Severity.ERROR, "torchvision")
    assert found.evidence["wanted"] == "0.20.1"
    assert found.evidence["source"]
    assert found.remedy == (f"{PIP} install --force-reinstall --no-deps torchvision==0.20.1",)


def test_metadata_that_says_what_it_needs_speaks_for_itself():
    stated = distribution("torchvision", "0.19.1", requires=["torch==2.4.1"])
    assert judge("torch==2.5.1", stated) == []
    unstated = distribution("torchvision", "0.19.1", requires=["torch", "numpy"])
    assert len(judge("torch==2.5.1", unstated)) == 1


def test_a_triton_that_torch_does_not_name_is_a_warning_where_the_table_has_another():
    (found,) = judge("torch==2.11.0", "triton==3.5.1")
    assert (found.severity, found.subject) == (Severity.WARNING, "triton")
    assert "==3.6.0" in found.message
    stated = distribution("torch", "2.11.0", requires=["triton==3.6.0"])
    assert judge(stated, "triton==3.5.1") == []


@pytest.mark.parametrize(
    ("torch", "companion", "severity"),
    [
        ("2.6.0+cu124", "torchvision==0.21.0+cu118", "error"),
        ("2.6.0+cu124", "torchvision==0.21.0+cu126", "warning"),
        ("2.6.0+cu124", "torchaudio==2.6.0+cu126", "error"),
        ("2.6.0+cu124", "torchvision==0.21.0+cpu", "warning"),
        ("2.6.0+cpu", "torchvision==0.21.0+cu124", "error"),
    ],
    ids=["another major", "another minor", "torchaudio's minor", "CPU beside CUDA", "CUDA beside CPU"],
)
def test_labels_that_differ(torch, companion, severity):
    (found,) = judge(f"torch=={torch}", companion)
    assert found.severity.label == severity
    label = torch.partition("+")[2]
    assert found.remedy[0].endswith(f"{companion.partition('+')[0]}+{label}")


def test_torchs_own_files_tell_the_label_that_its_metadata_has_not():
    (found,) = judge("torch==2.11.0", "torchvision==0.26.0+cu128", torch_build=torch_build("2.11.0+cu130"))
    assert "torch for cu130" in found.message


@pytest.mark.parametrize(
    "items",
    [
        ["torch==2.5.1+cu124", "torchvision==0.20.1+cu124", "torchaudio==2.5.1+cu124", "triton==3.1.0"],
        ["torch==2.11.0", "torchaudio==2.11.0"],
        ["torch==2.5.1", "torchvision==0.99.0"],
        ["torch==9.9.9", "torchvision==0.20.1"],
        ["torch==2.14.0", "triton==3.8.1"],
        ["torch==2.5.1+rocm6.2", "torchvision==0.20.1+cpu"],
        ["torch==2.5.1"],
        ["torchvision==0.20.1"],
    ],
    ids=["together", "unbound", "release unknown", "torch unknown", "compatible", "ROCm", "alone", "no torch"],
)
def test_healthy_neighbours(items):
    assert judge(*items) == []
