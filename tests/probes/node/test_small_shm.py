"""The size of /dev/shm."""

import pytest
from values import findings

from envdoctor.facts.node import Mount, Node, Space
from envdoctor.model import Severity
from envdoctor.policy import LIMITS, Policy
from envdoctor.probes.node.small_shm import check

MIB, GIB = 1 << 20, 1 << 30
DEFAULTS = Policy()


def judge(total, policy=DEFAULTS, kind="tmpfs"):
    space = Space("/dev/shm", "shared memory", total, total, 0, 0)
    return findings(check, node=Node(mounts=(Mount("/dev/shm", kind),), spaces=(space,)), policy=policy)


def test_a_container_s_default_is_a_warning():
    (finding,) = judge(64 * MIB)
    assert (finding.severity, finding.subject) == (Severity.WARNING, "/dev/shm")
    assert "64 MiB" in finding.message


def test_the_wanted_size_is_the_policy_s():
    assert judge(16 * GIB, Policy(limits={**LIMITS, "shm": 32 * GIB}))


@pytest.mark.parametrize(("total", "kind"), [(16 * GIB, "tmpfs"), (GIB, "tmpfs"), (64 * MIB, "ext4")])
def test_healthy_neighbours(total, kind):
    assert judge(total, kind=kind) == []


def test_what_cannot_be_seen_is_not_judged():
    assert findings(check, node=Node()) == []
