"""Room where the job writes."""

import pytest
from values import findings

from envdoctor.facts.node import Node, Space
from envdoctor.model import Severity
from envdoctor.probes.node.low_disk import check

MIB, GIB = 1 << 20, 1 << 30


def judge(free, *, use="temporary files", inodes=1_000_000, inodes_free=900_000, variable=""):
    space = Space("/scratch", use, 100 * GIB, free, inodes, inodes_free, variable)
    return findings(check, node=Node(spaces=(space,)))


@pytest.mark.parametrize(("free", "severity"), [(GIB, Severity.WARNING), (0, Severity.ERROR), (MIB, Severity.ERROR)])
def test_little_room_is_a_warning_and_none_an_error(free, severity):
    (finding,) = judge(free)
    assert (finding.severity, finding.subject) == (severity, "/scratch")


@pytest.mark.parametrize(("left", "severity"), [(500, Severity.WARNING), (0, Severity.ERROR)])
def test_inodes_run_out_as_well(left, severity):
    (finding,) = judge(50 * GIB, inodes_free=left)
    assert finding.severity == severity
    assert "inodes" in finding.message


def test_the_variable_that_chose_the_place_is_named():
    (finding,) = judge(GIB, use="inductor cache", variable="TORCHINDUCTOR_CACHE_DIR")
    assert "point TORCHINDUCTOR_CACHE_DIR elsewhere" in finding.remedy


@pytest.mark.parametrize(
    "fields",
    [{}, {"inodes": 0, "inodes_free": 0}, {"use": "shared memory", "inodes_free": 1}],
    ids=["room", "btrfs", "shm"],
)
def test_healthy_neighbours(fields):
    assert judge(50 * GIB, **fields) == []
