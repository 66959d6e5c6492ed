"""Room where the job writes."""

import pytest
from values import findings

from envdoctor.facts.node import Node, Space
from envdoctor.model import Severity
from envdoctor.probes.node.low_disk import check

MIB, GIB = 1 << 20, 1 << 30


def room(free, *, path="/scratch", use="temporary files", inodes=1_000_000, inodes_free=900_000, **more):
    return Space(path, use, 100 * GIB, free, inodes, inodes_free, **more)


def judge(free, **more):
    return findings(check, node=Node(spaces=(room(free, **more),)))


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
    ("fields", "severity", "said"),
    [
        ({"quota": 0}, Severity.ERROR, "0 bytes of your quota left"),
        ({"quota": GIB}, Severity.WARNING, "1 GiB of your quota left"),
        ({"quota_inodes": 0}, Severity.ERROR, "0 inodes of your quota left"),
        ({"quota_inodes": 500}, Severity.WARNING, "500 inodes of your quota left"),
    ],
)
def test_a_quota_runs_out_while_the_disk_is_empty(fields, severity, said):
    (finding,) = judge(50 * GIB, **fields)
    assert (finding.severity, finding.message) == (severity, f"/scratch (temporary files) has {said}")
    assert "quota -s" in finding.remedy[0]


def test_one_file_system_is_judged_once_for_all_that_lies_in_it():
    places = [("/tmp", "temporary files", "TMPDIR"), ("/tmp/x", "inductor cache", "TORCHINDUCTOR_CACHE_DIR")]
    full = tuple(room(GIB, path=path, use=use, variable=variable, device=3) for path, use, variable in places)
    (finding,) = findings(check, node=Node(spaces=(*full, room(50 * GIB, path="/home/me", device=4))))
    assert finding.message.startswith("/tmp (temporary files, inductor cache) has 1 GiB of")
    assert finding.remedy[1] == "point TMPDIR, TORCHINDUCTOR_CACHE_DIR elsewhere"


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"quota": 50 * GIB, "quota_inodes": 900_000},
        {"inodes": 0, "inodes_free": 0},
        {"use": "shared memory", "inodes_free": 1},
    ],
    ids=["room", "quota", "btrfs", "shm"],
)
def test_healthy_neighbours(fields):
    assert judge(50 * GIB, **fields) == []
