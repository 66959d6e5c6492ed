"""Caches from which nothing can be loaded."""

import pytest
from values import cache, caches, findings

from envdoctor.facts.node import Mount, Node
from envdoctor.model import Severity
from envdoctor.probes.cache.noexec import check

NOEXEC = Mount("/tmp", "tmpfs", ("rw", "noexec"))


def judge(*args, **fields):
    return findings(check, compile_caches=caches(cache(*args, **fields)), node=Node())


@pytest.mark.parametrize(
    ("kind", "exists"), [("inductor", False), ("inductor", True), ("triton", False), ("torch_extensions", True)]
)
def test_it_is_an_error(kind, exists):
    (finding,) = judge(kind, exists=exists, mount=NOEXEC)
    assert finding.severity == Severity.ERROR
    assert "/tmp (tmpfs), which is mounted noexec" in finding.message


@pytest.mark.parametrize(
    "fields",
    [
        {"mount": Mount("/", "ext4", ("rw",))},
        {"kind": "cuda", "mount": NOEXEC},
        {"kind": "torch_extensions", "exists": False, "mount": NOEXEC},
        {},
    ],
    ids=["exec", "data alone", "unused", "unknown mount"],
)
def test_healthy_neighbours(fields):
    assert judge(**fields) == []
