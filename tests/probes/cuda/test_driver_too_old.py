"""A driver below the floor of torch's CUDA major is an error; a newer minor is a note."""

import pytest
from values import driver, findings, judged, torch_build

from envdoctor.facts.driver import KernelModule, Library
from envdoctor.model import Severity, Unavailable
from envdoctor.probes.cuda.driver_too_old import check

COMPAT = Library("/usr/local/cuda-13.0/compat/libcuda.so.1", "580.65.06", "LD_LIBRARY_PATH", "compat")


def judge(version, cuda, ceiling=None, torch="2.10.0", **fields):
    return findings(check, driver=driver(version=version, cuda=ceiling, **fields), torch_build=torch_build(torch, cuda))


@pytest.mark.parametrize(
    ("version", "ceiling", "cuda", "minimum"),
    [
        ("535.183.01", (12, 2), "13.0", "580"),
        ("525.60.12", (12, 0), "12.1", "525.60.13"),
        ("470.82.01", (11, 4), "12.8", "525.60.13"),
        ("440.33.01", (10, 2), "11.8", "450.80.02"),
        ("535.183.01", None, "13.0", "580"),
    ],
    ids=["13 on 535", "one below", "12 on 470", "11 on 440", "ceiling unknown"],
)
def test_below_the_floor_is_an_error(version, ceiling, cuda, minimum):
    (finding,) = judge(version, cuda, ceiling)
    assert (finding.severity, finding.subject) == (Severity.ERROR, "torch")
    assert f"needs driver {minimum} or newer" in finding.message
    assert finding.evidence["minimum_driver"] == minimum
    assert finding.evidence["source"]


def test_it_names_builds_of_the_same_torch_that_run():
    (finding,) = judge("535.183.01", "13.0", (12, 2), torch="2.10.0+cu130")
    assert finding.evidence["other_builds"] == ["cu128", "cu126"]
    assert finding.remedy[-1] == "or install torch 2.10.0 as built for cu128 or cu126"
    (unknown,) = judge("535.183.01", "13.0", (12, 2), torch="2.99.0")
    assert unknown.remedy[-1] == "or install a torch built for an older CUDA major"


def test_a_newer_minor_is_a_note():
    (finding,) = judge("535.183.01", "12.8", (12, 2))
    assert finding.severity == Severity.NOTE
    assert "minor-version compatibility" in finding.message
    assert finding.evidence["own_driver"] == "570.26"


def test_without_a_ceiling_the_table_tells_a_newer_minor():
    assert [finding.severity for finding in judge("535.183.01", "12.8")] == [Severity.NOTE]
    assert judge("570.26", "12.8") == []


def test_a_major_that_no_table_has_is_judged_by_the_ceiling_alone():
    (finding,) = judge("580.95.05", "14.0", (13, 0))
    assert finding.severity == Severity.ERROR
    assert "needs a newer driver" in finding.message
    assert judge("580.95.05", "14.0") == []


def test_a_compat_library_that_reaches_the_floor_is_a_note():
    (finding,) = judge("535.183.01", "13.0", (13, 0), libcuda=(COMPAT,))
    assert (finding.severity, finding.evidence["libcuda"]) == (Severity.NOTE, COMPAT.path)
    assert "data-centre GPUs alone" in finding.message


def test_a_compat_library_that_is_too_old_or_not_in_use_does_not_help():
    old = Library("/usr/local/cuda-12.8/compat/libcuda.so.1", "570.26", "LD_LIBRARY_PATH", "compat")
    native = Library("/usr/lib/libcuda.so.1", "535.183.01", "ld.so.cache")
    for copies in ((old,), (native, COMPAT)):
        assert [finding.severity for finding in judge("535.183.01", "13.0", libcuda=copies)] == [Severity.ERROR]


def test_the_kernels_driver_counts_not_a_librarys():
    assert judge("580.95.05", "13.0", kernel_module=KernelModule("535.183.01"))[0].severity == Severity.ERROR


@pytest.mark.parametrize(
    ("version", "ceiling", "cuda"),
    [
        ("580", (13, 0), "13.0"),
        ("580.95.05", (13, 0), "13.0"),
        ("580.95.05", (13, 0), "12.8"),
        ("525.60.13", (12, 0), "12.0"),
        (None, None, "13.0"),
    ],
    ids=["exactly", "newer", "older major", "floor of 12", "driver unknown"],
)
def test_healthy_neighbours(version, ceiling, cuda):
    assert judge(version, cuda, ceiling) == []


def test_a_cpu_torch_is_skipped():
    outcome = judged(check, driver=driver(version="390.1"), torch_build=torch_build("2.11.0+cpu", None))
    assert outcome.skipped == Unavailable("torch is not built for CUDA")
