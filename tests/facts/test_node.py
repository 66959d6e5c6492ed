"""What the machine grants: mounts as the kernel lists them, room where the job writes, limits."""

import os
import resource

import pytest
from fakes import FakeHost

from envdoctor.facts import node
from envdoctor.facts.node import Mount, Node, collect, control_groups, parse_mountinfo, places
from envdoctor.model import Target, Unavailable

MOUNTINFO = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=remount-ro
30 22 0:26 / /tmp rw,nosuid,nodev,noexec - tmpfs tmpfs rw,size=1024k
31 22 0:27 / /mnt/with\\040space rw - nfs4 server:/export rw,vers=4.2
not a line of it
40 22 0:30 / /tmp rw - overlay overlay rw
"""
TARGET = Target("/env", "/env/bin/python")


def test_mounts_are_read_with_their_options_and_escapes():
    first, tmp, space, over = parse_mountinfo(MOUNTINFO)
    assert first == Mount("/", "ext4", ("rw", "relatime", "errors=remount-ro"), "/dev/vda")
    assert "noexec" in tmp.options
    assert (space.point, space.kind) == ("/mnt/with space", "nfs4")
    assert over.kind == "overlay"


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/tmp/x", "overlay"), ("/tmpfoo", "ext4"), ("/mnt/with space/cache", "nfs4"), ("/", "ext4")],
)
def test_the_mount_of_a_path_is_the_longest_and_last(path, kind):
    assert Node(mounts=parse_mountinfo(MOUNTINFO)).mount_of(path).kind == kind


@pytest.mark.parametrize(
    ("env", "use", "path"),
    [
        ({}, "temporary files", "/tmp"),
        ({"TMPDIR": "/dev/shm"}, "temporary files", "/dev/shm"),
        ({"TMPDIR": "/nowhere"}, "temporary files", "/tmp"),
        ({"TEMP": "/dev/shm"}, "temporary files", "/dev/shm"),
        ({"FLASHINFER_WORKSPACE_BASE": "/fast"}, "flashinfer cache", "/fast/.cache/flashinfer"),
        ({"TORCHINDUCTOR_CACHE_DIR": "/fast"}, "inductor cache", "/fast"),
        ({}, "triton cache", "/nowhere/home/.triton/cache"),
        ({"TRITON_CACHE_DIR": "/fast"}, "triton cache", "/fast"),
        ({}, "environment", "/env"),
        ({}, "shared memory", "/dev/shm"),
    ],
)
def test_the_job_writes_where_its_variables_say(env, use, path):
    assert (use, path) in [(u, p) for u, p, _ in places(TARGET, FakeHost(env=env))]


def test_the_real_machine_is_read(tmp_path):
    host = FakeHost(env={"TRITON_CACHE_DIR": str(tmp_path / "not" / "yet")}, cwd=str(tmp_path))
    found = collect(Target(str(tmp_path), str(tmp_path / "bin/python")), host)
    assert found.mount_of("/") is not None
    assert found.space("triton cache").free == pytest.approx(found.space("environment").free, rel=0.1)
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert found.limits["nofile"] == (None if soft == resource.RLIM_INFINITY else soft)
    assert os.path.ismount("/dev/shm") == (found.space("shared memory") is not None and os.path.ismount("/dev/shm"))


def test_below_a_root_the_running_machine_says_nothing():
    assert isinstance(collect(TARGET, FakeHost(root="/img")), Unavailable)


@pytest.mark.parametrize(
    ("membership", "limits"),
    [
        ("0::/\n", ["/sys/fs/cgroup/memory.max"]),
        (
            "0::/slurm/job7\n",
            [f"/sys/fs/cgroup/{path}memory.max" for path in ("slurm/job7/", "slurm/", "")],
        ),
        (
            "5:cpu,cpuacct:/x\n4:memory:/docker/ab\n",
            [f"/sys/fs/cgroup/memory/{path}memory.limit_in_bytes" for path in ("docker/ab/", "docker/", "")],
        ),
        ("nonsense\n", []),
    ],
    ids=["version 2 in a container", "a batch job's", "version 1", "unreadable"],
)
def test_a_limit_of_any_group_above_counts(membership, limits):
    assert [limit for limit, _ in control_groups(membership)] == limits


def test_the_tightest_limit_is_the_one_with_its_own_use(monkeypatch):
    files = {
        "/sys/fs/cgroup/slurm/job7/memory.max": "max\n",
        "/sys/fs/cgroup/slurm/job7/memory.current": "10",
        "/sys/fs/cgroup/slurm/memory.max": "4096",
        "/sys/fs/cgroup/slurm/memory.current": "20",
        "/sys/fs/cgroup/memory.max": "8192",
        "/sys/fs/cgroup/memory.current": "30",
        "/proc/self/cgroup": "0::/slurm/job7\n",
    }
    monkeypatch.setattr(node, "_text", lambda path: files.get(path, ""))
    found = collect(TARGET, FakeHost())
    assert (found.memory_limit, found.memory_used) == (4096, 20)
