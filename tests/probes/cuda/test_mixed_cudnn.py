"""cuDNN and its parts are of one version, and only one version is within reach."""

import pytest
from values import SITE, findings, folder, loader, loads, nvidia_wheels

from envdoctor.model import Severity
from envdoctor.probes.cuda.mixed_cudnn import check

OURS = f"{SITE}/nvidia/cudnn/lib"
MAIN, PART = "libcudnn.so.9", "libcudnn_ops.so.9"
WHEELS = nvidia_wheels(("nvidia-cudnn-cu12==9.1.0.70", f"nvidia/cudnn/lib/{MAIN}", f"nvidia/cudnn/lib/{PART}"))
OLD = "/usr/local/cuda/lib64"


def judge(*folders, wheels=WHEELS, **fields):
    return findings(check, loader=loader(*folders, **fields), nvidia_wheels=wheels)


def test_parts_of_another_version_are_an_error():
    resolutions = [loads(f"{OURS}/{MAIN}"), loads(f"{OLD}/{PART}", "LD_LIBRARY_PATH", MAIN, version="9.0.0")]
    (found,) = judge(folder(OLD, PART, version="9.0.0"), resolutions=resolutions)
    assert (found.severity, found.subject) == (Severity.ERROR, OLD)
    assert all(text in found.message for text in (PART, "9.0.0", "9.1.0.70"))
    assert [item["version"] for item in found.evidence["loaded"]] == ["9.1.0.70", "9.0.0"]
    assert found.remedy == ("unset LD_LIBRARY_PATH",)


def test_everything_from_another_version_than_the_wheels_is_an_error():
    resolutions = [loads(f"{OLD}/{name}", "LD_LIBRARY_PATH", version="9.0.0") for name in (MAIN, PART)]
    (found,) = judge(resolutions=resolutions)
    assert "9.1.0.70" in found.message


def test_without_a_wheel_the_parts_are_held_against_each_other():
    resolutions = [loads(f"/a/{MAIN}", version="9.1.0"), loads(f"/b/{PART}", "ld.so.cache", version="9.0.0")]
    (found,) = judge(resolutions=resolutions, wheels=nvidia_wheels())
    assert found.subject == "/b"
    assert found.remedy != ("unset LD_LIBRARY_PATH",)


def test_another_version_merely_in_reach_is_a_warning():
    resolutions = [loads(f"{OURS}/{MAIN}"), loads(f"{OURS}/{PART}")]
    (found,) = judge(folder(OLD, MAIN, version="9.0.0"), resolutions=resolutions)
    assert (found.severity, found.subject) == (Severity.WARNING, OLD)


def test_condas_is_in_reach_as_well():
    (found,) = judge(conda=folder("/env/lib", MAIN, version="9.0.0"))
    assert (found.severity, found.subject) == (Severity.WARNING, "/env/lib")
    assert found.remedy != ("unset LD_LIBRARY_PATH",)


@pytest.mark.parametrize(
    "here",
    [
        {"resolutions": [loads(f"{OURS}/{MAIN}"), loads(f"{OURS}/{PART}", "RUNPATH")]},
        {"resolutions": [loads(f"{OURS}/{MAIN}"), loads(f"{OLD}/{PART}", "LD_LIBRARY_PATH", version="9.1.0")]},
        {"resolutions": [loads(f"{OURS}/{MAIN}"), loads(f"{OLD}/{PART}", "LD_LIBRARY_PATH")]},
        {"conda": folder("/env/lib", MAIN, version="9.1.0")},
        {"conda": folder("/env/lib", "libcudnn.so.8", version="8.9.7")},
        {},
    ],
    ids=["wheel alone", "same version", "version unknown", "conda the same", "another soname", "nothing"],
)
def test_healthy_neighbours(here):
    assert judge(**here) == []
