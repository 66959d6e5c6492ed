"""A forward-compatibility libcuda is right on an older driver branch of a data-centre GPU, and nowhere else."""

import pytest
from values import driver, findings, folder, gpu, loader

from envdoctor.facts.driver import KernelModule, Library
from envdoctor.model import Severity, Unavailable
from envdoctor.probes.cuda.compat_library import check

PATH = "/usr/local/cuda-13.0/compat/libcuda.so.1"
NATIVE = Library("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "535.183.01", "ld.so.cache")


def compat(path=PATH, version="580.95.05", origin="LD_LIBRARY_PATH"):
    return Library(path, version, origin, "compat")


def judge(kernel, *libraries, gpus=()):
    module = KernelModule(kernel) if kernel else None
    node = driver(*(gpus or [gpu()]), libcuda=libraries, kernel_module=module, version=kernel)
    return findings(check, driver=node, loader=loader())


def test_a_branch_that_the_package_refuses_is_an_error():
    (found,) = judge("595.71.05", compat(), NATIVE)
    assert (found.severity, found.subject) == (Severity.ERROR, PATH)
    assert "cuda-compat-13-0 does not work on driver branch 595" in found.message
    assert found.evidence["source"]
    assert found.remedy == ("take /usr/local/cuda-13.0/compat off LD_LIBRARY_PATH",)


def test_a_consumer_gpu_is_an_error_whatever_the_branch():
    (found,) = judge("535.183.01", compat(), gpus=[gpu(name="NVIDIA GeForce RTX 4090")])
    assert found.severity == Severity.ERROR
    assert "GeForce RTX 4090" in found.message


def test_a_driver_of_the_same_branch_does_not_need_it():
    (found,) = judge("580.65.06", compat())
    assert found.severity == Severity.WARNING
    assert "does not need it" in found.message


def test_the_package_is_told_by_its_branch_where_the_path_has_no_release():
    path = "/usr/local/cuda/compat/libcuda.so.1"
    (found,) = judge("595.71.05", compat(path, origin="ld.so.cache"))
    assert "cuda-compat-13-0" in found.message
    assert "ldconfig" in found.remedy[0]
    assert judge("535.183.01", compat(path)) == []


@pytest.mark.parametrize(
    ("kernel", "library"),
    [
        ("700.1", compat()),
        (None, compat()),
        ("535.183.01", compat("/opt/compat/libcuda.so.1", "999.1")),
        ("535.183.01", compat("/opt/compat/libcuda.so.1", None)),
    ],
    ids=["newer branch", "driver unknown", "package unknown", "version unknown"],
)
def test_what_is_not_known_is_a_warning_that_says_so(kernel, library):
    (found,) = judge(kernel, library)
    assert found.severity == Severity.WARNING
    assert "not known" in found.message


def test_on_a_node_without_driver_it_is_a_note():
    here = loader(folder("/usr/local/cuda/compat", "libcuda.so.1", kind="compat"))
    (found,) = findings(check, driver=Unavailable("no NVIDIA driver on this node"), loader=here)
    assert (found.severity, found.subject) == (Severity.NOTE, "/usr/local/cuda/compat")


@pytest.mark.parametrize(
    ("kernel", "libraries"),
    [("535.183.01", [compat()]), ("595.71.05", [NATIVE, compat()]), ("595.71.05", [NATIVE]), ("595.71.05", [])],
    ids=["older branch", "native first", "native alone", "none"],
)
def test_healthy_neighbours(kernel, libraries):
    assert judge(kernel, *libraries) == []


def test_a_compat_directory_that_is_empty_is_nothing():
    here = loader(folder("/usr/local/cuda/compat", kind="compat"))
    assert findings(check, driver=Unavailable("no NVIDIA driver on this node"), loader=here) == []
