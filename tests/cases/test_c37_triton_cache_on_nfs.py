"""PrimeIntellect-ai/prime-rl#2305: ranks of two nodes share ~/.triton on NFS, and one meets a stale file handle."""

import pytest
from fakes import FakeHost
from values import findings

from envdoctor.facts import variables
from envdoctor.facts.compile_caches import collect
from envdoctor.facts.node import Node, parse_mountinfo
from envdoctor.model import Target
from envdoctor.probes.cache.network_filesystem import check

NODE = Node(
    mounts=parse_mountinfo(
        "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n31 22 0:27 / /nowhere/home rw - nfs4 server:/home rw,vers=4.2\n"
    )
)
TARGET = Target("/env", "/env/bin/python")


def judged(**env):
    host = FakeHost(env={"USER": "nobody-is-called-so", **env})
    found = collect(TARGET, host, None, NODE)
    return findings(check, compile_caches=found, node=NODE, variables=variables.collect(TARGET, host))


@pytest.mark.parametrize(("nodes", "severity"), [("2", "error"), ("1", "warning")])
def test_several_nodes_make_it_an_error(nodes, severity):
    (found,) = judged(SLURM_NNODES=nodes)
    assert (found.severity.label, found.subject) == (severity, "/nowhere/home/.triton/cache")
    assert "nfs4 from server:/home" in found.message
    assert found.remedy[0].startswith("export TRITON_CACHE_DIR=")


def test_control_a_disk_of_the_node_is_silent():
    assert judged(SLURM_NNODES="2", TRITON_CACHE_DIR="/scratch/triton") == []
