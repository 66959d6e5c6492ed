"""Soft limits and the container's memory."""

import pytest
from values import findings

from envdoctor.facts.node import Node
from envdoctor.model import Severity
from envdoctor.probes.node.low_limits import check

GIB = 1 << 30


@pytest.mark.parametrize(("name", "have"), [("nofile", 256), ("nproc", 100)])
def test_a_low_soft_limit_is_a_warning_with_the_command(name, have):
    (finding,) = findings(check, node=Node(limits={name: have}))
    assert (finding.severity, finding.subject) == (Severity.WARNING, name)
    assert finding.remedy[0].startswith("ulimit -")


def test_a_full_container_is_a_warning():
    (finding,) = findings(check, node=Node(memory_limit=16 * GIB, memory_used=15 * GIB))
    assert finding.subject == "memory"


@pytest.mark.parametrize(
    "node",
    [
        Node(limits={"nofile": None, "nproc": None}),
        Node(limits={"nofile": 1024, "nproc": 100_000}),
        Node(memory_limit=16 * GIB, memory_used=GIB),
        Node(memory_limit=None, memory_used=GIB),
    ],
    ids=["unlimited", "enough", "room", "no limit"],
)
def test_healthy_neighbours(node):
    assert findings(check, node=node) == []
