"""A directory on LD_LIBRARY_PATH matters only if it holds what the wheels bundle, and most if that is loaded."""

import pytest
from values import SITE, findings, folder, loader, loads

from envdoctor.model import Severity
from envdoctor.probes.cuda.library_shadowed import check

TOOLKIT = "/usr/local/cuda-12.1/lib64"
OURS = f"{SITE}/nvidia/nvjitlink/lib"
LINK, BLAS = "libnvJitLink.so.12", "libcublas.so.12"


def judge(*folders, **fields):
    return findings(check, loader=loader(*folders, **fields))


def test_a_library_that_would_be_loaded_from_there_is_an_error():
    resolutions = [loads(f"{TOOLKIT}/{LINK}", "LD_LIBRARY_PATH", "libcusparse.so.12")]
    (found,) = judge(folder(TOOLKIT, LINK, bundled=OURS), resolutions=resolutions)
    assert (found.severity, found.subject) == (Severity.ERROR, TOOLKIT)
    assert all(part in found.message for part in (LINK, TOOLKIT, OURS))
    (library,) = found.evidence["libraries"]
    assert library == {
        "soname": LINK,
        "there": f"{TOOLKIT}/{LINK}",
        "bundled": f"{OURS}/{LINK}",
        "loaded": "LD_LIBRARY_PATH, for libcusparse.so.12",
    }
    assert found.remedy == ("unset LD_LIBRARY_PATH", f"or export LD_LIBRARY_PATH={OURS}:$LD_LIBRARY_PATH")


def test_every_library_is_named_those_that_are_loaded_first():
    resolutions = [loads(f"{TOOLKIT}/{LINK}", "LD_LIBRARY_PATH"), loads(f"{OURS}/{BLAS}")]
    (found,) = judge(folder(TOOLKIT, BLAS, LINK, bundled=OURS), resolutions=resolutions)
    assert [item["soname"] for item in found.evidence["libraries"]] == [LINK, BLAS]
    assert BLAS not in found.message


def test_where_nothing_is_known_of_the_loading_the_rule_decides():
    (found,) = judge(folder(TOOLKIT, LINK, bundled=OURS), unknown="torch is not installed")
    assert found.severity == Severity.ERROR
    assert found.evidence["unknown"] == "torch is not installed"


@pytest.mark.parametrize("by", ["RPATH", "torch"])
def test_what_torch_takes_from_the_wheels_nevertheless_is_a_warning(by):
    (found,) = judge(folder(TOOLKIT, LINK, bundled=OURS), resolutions=[loads(f"{OURS}/{LINK}", by)])
    assert found.severity == Severity.WARNING
    assert "torch still loads the environment's own" in found.message


def test_what_torch_does_not_load_at_all_is_a_warning():
    (found,) = judge(folder(TOOLKIT, "libnvblas.so.12", bundled=OURS), resolutions=[loads(f"{OURS}/{LINK}")])
    assert found.severity == Severity.WARNING


def test_each_directory_is_a_finding_and_only_the_first_is_loaded_from():
    resolutions = [loads(f"{TOOLKIT}/{LINK}", "LD_LIBRARY_PATH")]
    found = judge(folder(TOOLKIT, LINK, bundled=OURS), folder("/opt/b", LINK, bundled=OURS), resolutions=resolutions)
    assert [(item.subject, item.severity.label) for item in found] == [(TOOLKIT, "error"), ("/opt/b", "warning")]


@pytest.mark.parametrize(
    "folders",
    [[], [folder(TOOLKIT)], [folder(TOOLKIT, LINK)], [folder("/usr/local/nvidia/lib64", "libcuda.so.1")]],
    ids=["unset", "unrelated", "bundled by nobody", "driver"],
)
def test_healthy_neighbours(folders):
    assert judge(*folders, unknown="torch is not installed") == []
