"""Wheels of a CUDA major that torch does not need: an error where they share a path with what it needs."""

import pytest
from values import PIP, SITE, distribution, distributions, findings, nvidia_wheels, torch_build

from envdoctor.model import Severity
from envdoctor.probes.cuda.wheel_mix import check

NCCL = "nvidia/nccl/lib/libnccl.so.2"
NCCL_12, NCCL_13 = ("nvidia-nccl-cu12==2.29.3", NCCL), ("nvidia-nccl-cu13==2.29.7", NCCL)
CUBLAS_12 = ("nvidia-cublas-cu12==12.4.5.8", "nvidia/cublas/lib/libcublas.so.12")
CUBLAS_13 = ("nvidia-cublas==13.1.0.3", "nvidia/cu13/lib/libcublas.so.13")
TORCH_13 = distribution("torch", "2.12.0", requires=["nvidia-nccl-cu13==2.29.7", "nvidia-cublas==13.1.0.3"])
TORCH_12 = distribution("torch", "2.6.0", requires=["nvidia-nccl-cu12==2.29.3", "nvidia-cublas-cu12==12.4.5.8"])


def judge(torch, *wheels, **facts):
    own = [wheel[0] for wheel in wheels]
    items = [*own, "pip", *([torch] if torch else []), *facts.pop("others", ())]
    return findings(check, distributions=distributions(*items), nvidia_wheels=nvidia_wheels(*wheels), **facts)


def test_a_shared_path_is_an_error_and_the_survivor_is_reinstalled_after_the_removal():
    (found,) = judge(TORCH_13, NCCL_12, NCCL_13)
    assert (found.severity, found.subject) == (Severity.ERROR, "nvidia-nccl-cu12")
    assert f"{SITE}/{NCCL}" in found.message
    assert found.evidence["packages"] == {"nvidia-nccl-cu12": "2.29.3", "nvidia-nccl-cu13": "2.29.7"}
    assert found.remedy == (
        f"{PIP} uninstall nvidia-nccl-cu12",
        f"{PIP} install --force-reinstall --no-deps nvidia-nccl-cu13==2.29.7",
    )


def test_the_family_is_told_by_need_whichever_it_is():
    (found,) = judge(TORCH_12, NCCL_12, NCCL_13)
    assert (found.subject, found.evidence["needed"]) == ("nvidia-nccl-cu13", 12)
    assert found.remedy[1].endswith("nvidia-nccl-cu12==2.29.3")


def test_need_goes_through_the_toolkits_meta_package():
    torch = distribution("torch", "2.11.0", requires=["cuda-toolkit[cublas]==13.0.2"])
    meta = distribution("cuda-toolkit", "13.0.2", requires=['nvidia-cublas==13.1.0.3; extra == "cublas"'])
    (found,) = judge(torch, NCCL_12, NCCL_13, CUBLAS_13, others=[meta])
    assert found.subject == "nvidia-nccl-cu12"


def test_where_metadata_says_nothing_the_build_decides():
    (found,) = judge(distribution("torch", "2.12.0"), NCCL_12, NCCL_13, torch_build=torch_build(cuda="13.0"))
    assert found.subject == "nvidia-nccl-cu12"


def test_no_shared_path_is_a_warning():
    (found,) = judge(TORCH_13, CUBLAS_12, CUBLAS_13)
    assert (found.severity, found.subject) == (Severity.WARNING, "nvidia-cublas-cu12")
    assert "no path is shared" in found.message
    assert found.remedy == (f"{PIP} uninstall nvidia-cublas-cu12",)


def test_what_another_package_asks_for_is_a_note_and_stays():
    user = distribution("jax-cuda12-pjrt", "0.5", requires=["nvidia-cublas-cu12>=12"])
    (found,) = judge(TORCH_13, CUBLAS_12, CUBLAS_13, others=[user])
    assert (found.severity, found.remedy) == (Severity.NOTE, ())
    assert "jax-cuda12-pjrt" in found.message


def test_the_whole_other_family_is_one_finding_for_each_collision_and_one_for_the_rest():
    found = judge(TORCH_13, NCCL_12, CUBLAS_12, NCCL_13, CUBLAS_13)
    assert [(item.subject, item.severity.label) for item in found] == [
        ("nvidia-nccl-cu12", "error"),
        ("nvidia-cublas-cu12", "warning"),
    ]


def test_another_family_alone_is_said():
    (found,) = judge(TORCH_13, CUBLAS_12)
    assert found.severity == Severity.WARNING


def test_without_torch_a_shared_path_is_an_error_still():
    (found,) = judge(None, NCCL_12, NCCL_13)
    assert found.severity == Severity.ERROR
    assert judge(None, CUBLAS_12, CUBLAS_13) == []


@pytest.mark.parametrize(
    ("torch", "wheels"),
    [
        (TORCH_13, [NCCL_13, CUBLAS_13]),
        (TORCH_12, [NCCL_12, CUBLAS_12]),
        (TORCH_13, [NCCL_13, ("nvidia-ml-py==13.580", "pynvml.py")]),
        (None, [NCCL_12]),
        (TORCH_13, []),
    ],
    ids=["all 13", "all 12", "no family", "no torch", "none"],
)
def test_healthy_neighbours(torch, wheels):
    assert judge(torch, *wheels) == []
