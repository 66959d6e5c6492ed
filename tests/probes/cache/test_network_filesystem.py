"""Caches on a file server."""

import pytest
from values import cache, caches, findings, variables

from envdoctor.facts.node import Mount, Node
from envdoctor.model import Severity
from envdoctor.probes.cache.network_filesystem import check

NFS = Mount("/home", "nfs4", ("rw",), "server:/home")


def judge(*args, mount=NFS, exists=True, **env):
    facts = {"compile_caches": caches(cache(*args, mount=mount, exists=exists)), "node": Node()}
    return findings(check, **facts, variables=variables(**env))


@pytest.mark.parametrize(
    ("env", "severity"),
    [
        ({}, Severity.WARNING),
        ({"SLURM_NNODES": "1"}, Severity.WARNING),
        ({"SLURM_NNODES": "2"}, Severity.ERROR),
        ({"WORLD_SIZE": "16", "LOCAL_WORLD_SIZE": "8"}, Severity.ERROR),
        ({"WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "8"}, Severity.WARNING),
        ({"SLURM_NNODES": "two", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "0"}, Severity.WARNING),
    ],
    ids=str,
)
def test_several_nodes_make_it_an_error(env, severity):
    (finding,) = judge("triton", exists=False, **env)
    assert finding.severity == severity
    assert "nfs4 from server:/home" in finding.message


def test_a_disk_and_a_cache_that_nobody_uses_are_silent():
    assert judge(mount=Mount("/home", "ext4")) == []
    assert judge(mount=None) == []
    assert judge("cuda", exists=False, SLURM_NNODES="2") == []
