"""pytorch/pytorch#123054, #91005: what is compiled cannot be loaded from a /tmp that is mounted noexec."""

from fakes import FakeHost
from values import findings

from envdoctor.facts.compile_caches import collect
from envdoctor.facts.node import Node, parse_mountinfo
from envdoctor.model import Target
from envdoctor.probes.cache.noexec import check

NODE = Node(
    mounts=parse_mountinfo(
        "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n30 22 0:26 / /tmp rw,nosuid,nodev,noexec - tmpfs tmpfs rw\n"
    )
)


def judged(**env):
    host = FakeHost(env={"USER": "nobody-is-called-so", **env})
    found = collect(Target("/env", "/env/bin/python"), host, None, NODE)
    return findings(check, compile_caches=found, node=NODE)


def test_the_default_place_is_an_error():
    (found,) = judged()
    assert (found.severity.label, found.subject) == ("error", "/tmp/torchinductor_nobody-is-called-so")
    assert "/tmp (tmpfs), which is mounted noexec" in found.message
    assert found.remedy[0].startswith("export TORCHINDUCTOR_CACHE_DIR=")


def test_triton_s_is_one_too_where_it_was_put_there():
    assert len(judged(TRITON_CACHE_DIR="/tmp/triton")) == 2


def test_control_variables_that_name_a_mount_with_exec_are_silent():
    assert judged(TORCHINDUCTOR_CACHE_DIR="/nowhere/i", TRITON_CACHE_DIR="/nowhere/t") == []
