"""The driver is compared with the seal."""

import pytest
from values import driver, findings, gpu, seal

from envdoctor.model import Severity
from envdoctor.probes.cuda.driver_changed import check


def judge(now, before):
    return findings(check, driver=driver(gpu(), version=now), seal=seal(driver=before))


def test_another_driver_than_the_sealed_one_is_a_note_with_both_versions():
    (finding,) = judge("580.95.05", "570.86.10")
    assert (finding.severity, finding.subject) == (Severity.NOTE, "driver")
    assert "580.95.05" in finding.message
    assert "570.86.10" in finding.message


@pytest.mark.parametrize(
    ("now", "before"),
    [("580.95.05", "580.95.05"), ("580.95.05", None), (None, "580.95.05")],
    ids=["the same", "none was sealed", "unknown now"],
)
def test_healthy_neighbours(now, before):
    assert judge(now, before) == []
