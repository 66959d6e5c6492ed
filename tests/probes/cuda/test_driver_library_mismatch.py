"""Module and libraries of several versions are an error; forward compatibility is meant to differ."""

import pytest
from values import driver, findings

from envdoctor.facts.driver import KernelModule, Library
from envdoctor.model import Severity, Unavailable
from envdoctor.probes.cuda.driver_library_mismatch import check

SAID = Unavailable("NVML: driver/library version mismatch")


def copies(*versions, kind="native"):
    return tuple(Library(f"/usr/lib/lib.so.{version}", version, "ld.so.cache", kind) for version in versions)


def judge(module="580.95.05", libcuda=(), libnvidia_ml=(), problem=None):
    loaded = KernelModule(module) if module else None
    return findings(
        check, driver=driver(kernel_module=loaded, libcuda=libcuda, libnvidia_ml=libnvidia_ml, problem=problem)
    )


def test_an_upgrade_without_a_restart_is_an_error():
    (finding,) = judge(libcuda=copies("580.105.08"), libnvidia_ml=copies("580.105.08"), problem=SAID)
    assert (finding.severity, finding.subject) == (Severity.ERROR, "nvidia-driver")
    assert finding.evidence["versions"] == {
        "kernel module": "580.95.05",
        "libcuda": "580.105.08",
        "libnvidia-ml": "580.105.08",
    }
    assert finding.message.startswith("the driver is of several versions: kernel module 580.95.05, libcuda 580.105.08")


def test_one_library_apart_is_enough():
    assert judge(libcuda=copies("580.95.05"), libnvidia_ml=copies("580.105.08"))
    assert judge(module=None, libcuda=copies("580.95.05"), libnvidia_ml=copies("580.105.08"))


def test_nvmls_word_is_enough_where_files_say_nothing():
    (finding,) = judge(libnvidia_ml=copies(None), problem=SAID)
    assert finding.message == "NVML refuses: kernel module 580.95.05"


@pytest.mark.parametrize(
    "given",
    [
        {"libcuda": copies("580.95.05"), "libnvidia_ml": copies("580.95.05")},
        {"libcuda": (*copies("590.44.01", kind="compat"), *copies("580.95.05"))},
        {"libcuda": copies("1.1", kind="stub")},
        {"libcuda": copies("580.95.05", "470.82.01")},
        {"libcuda": copies(None)},
        {"module": None, "libcuda": copies("580.95.05")},
        {"problem": Unavailable("NVML gave no answer within 3 s", failed=True)},
    ],
    ids=["one version", "compat", "stub", "a second copy not in use", "no version", "no module", "other trouble"],
)
def test_healthy_neighbours(given):
    assert judge(**given) == []
