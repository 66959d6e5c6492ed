"""The fabric manager equals the driver or it is an error, in both directions, where there are switches."""

import pytest
from values import driver, findings

from envdoctor.facts.driver import KernelModule
from envdoctor.model import Severity
from envdoctor.probes.cuda.fabric_manager_mismatch import check


def judge(version, manager, *, nvswitch=True, **fields):
    return findings(check, driver=driver(version=version, fabric_manager=manager, nvswitch=nvswitch, **fields))


@pytest.mark.parametrize(
    ("version", "manager"),
    [("535.230.02", "535.183.01"), ("580.126.09", "590.48.01"), ("535.183.01", "535.183")],
    ids=["older", "newer", "shorter"],
)
def test_another_version_is_an_error(version, manager):
    (finding,) = judge(version, manager)
    assert (finding.severity, finding.subject) == (Severity.ERROR, "nvidia-fabricmanager")
    assert finding.evidence == {"fabric_manager": manager, "driver": version}
    assert version in finding.remedy[0]


def test_the_loaded_module_is_what_it_must_equal():
    assert judge("535.230.02", "535.230.02", kernel_module=KernelModule("535.183.01"))


@pytest.mark.parametrize(
    ("version", "manager", "nvswitch"),
    [
        ("535.183.01", "535.183.01", True),
        ("535.230.02", "535.183.01", False),
        ("535.230.02", None, True),
        (None, "535.183.01", True),
    ],
    ids=["equal", "no switch", "manager unknown", "driver unknown"],
)
def test_healthy_neighbours(version, manager, nvswitch):
    assert judge(version, manager, nvswitch=nvswitch) == []
