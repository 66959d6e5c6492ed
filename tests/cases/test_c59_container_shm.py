"""tahoebio/tahoe-x1#63 (and pytorch/pytorch#5040): a container's 64 MB of shared memory kill the data loader."""

import pytest
from values import findings

from envdoctor.facts.node import Node, Space
from envdoctor.model import Severity
from envdoctor.probes.node.small_shm import check

CONTAINER, HOST = 64 << 20, 16 << 30


@pytest.mark.parametrize(("total", "severities"), [(CONTAINER, [Severity.WARNING]), (HOST, [])])
def test_the_default_of_a_container_warns_and_a_host_s_share_does_not(total, severities):
    node = Node(spaces=(Space("/dev/shm", "shared memory", total, total, 0, 0),))
    assert [finding.severity for finding in findings(check, node=node)] == severities
