"""The node's limits: mounts, shared memory, free space where a job writes, resource limits, memory of the container.

mountinfo: proc_pid_mountinfo(5); limits: getrlimit(2); memory: cgroup v2 `memory.max` and v1 `memory.limit_in_bytes`.
"""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from envdoctor.facts import cache_places
from envdoctor.model import Target, Unavailable
from envdoctor.system import quotas
from envdoctor.system.host import Host
from envdoctor.system.reading import head

LIMITS = {
    "nofile": resource.RLIMIT_NOFILE,
    "nproc": resource.RLIMIT_NPROC,
    "memlock": resource.RLIMIT_MEMLOCK,
    "stack": resource.RLIMIT_STACK,
    "core": resource.RLIMIT_CORE,
}
"""Names as in limits.conf(5)."""
SHM = "/dev/shm"  # noqa: S108 - the mount itself is meant
NETWORK_KINDS = frozenset(
    {"nfs", "nfs3", "nfs4", "cifs", "smb3", "smbfs", "afs", "lustre", "gpfs", "beegfs", "ceph", "glusterfs"}
    | {"fuse.glusterfs", "fuse.sshfs", "fuse.ceph", "fuse.s3fs", "fuse.gcsfuse", "fuse.juicefs", "wekafs", "panfs"}
)
"""Types of file systems that other hosts may hold as well, as in mountinfo."""
_ESCAPE = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """One mounted file system."""

    point: str
    kind: str
    """File system type: ext4, tmpfs, nfs4, overlay ..."""
    options: tuple[str, ...] = ()
    """Of the mount and of the file system: rw, noexec ..."""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Space:
    """Room in a directory that a job writes to."""

    path: str
    use: str
    """What the job keeps there: `environment`, `temporary files`, `shared memory`, `inductor cache`, `cuda cache`."""
    total: int
    """Bytes."""
    free: int
    """Bytes that an ordinary user may still fill."""
    inodes: int
    """0 where the file system has no fixed number."""
    inodes_free: int
    variable: str = ""
    """The variable that moves it elsewhere; "" where none does."""
    device: int = 0
    """Number of the file system; 0 if unknown."""
    quota: int | None = None
    """Bytes that quotas leave to this user; None where none is known to apply."""
    quota_inodes: int | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """What the machine grants to a job."""

    mounts: tuple[Mount, ...] = ()
    spaces: tuple[Space, ...] = ()
    limits: Mapping[str, int | None] = field(default_factory=dict)
    """Soft limits by name; None for unlimited."""
    memory_limit: int | None = None
    """Bytes that the control group allows; None for no limit or unknown."""
    memory_used: int | None = None

    def space(self, use: str) -> Space | None:
        """Return the room for one use, None if it could not be seen."""
        return next((space for space in self.spaces if space.use == use), None)

    def mount_of(self, path: str) -> Mount | None:
        """Return the mount that holds a path: the longest mount point above it, the last one mounted there."""
        return mount_of(path, self.mounts)


def collect(target: Target, host: Host) -> Node | Unavailable:
    """Read it. Below --root only files can be seen, and a disk that is not mounted grants nothing."""
    if host.root:
        return Unavailable("--root: what the running machine grants says nothing of this one")
    return Node(
        mounts=mounts(),
        spaces=tuple(_spaces(target, host)),
        limits={name: _soft(number) for name, number in LIMITS.items()},
        **_memory(_text("/proc/self/cgroup")),
    )


def mounts(proc: str = "/proc") -> tuple[Mount, ...]:
    """Return what is mounted on the running machine."""
    return parse_mountinfo(_text(f"{proc}/self/mountinfo"))


def mount_of(path: str, mounts: Sequence[Mount]) -> Mount | None:
    """Return the mount that holds a path: the longest mount point above it, the last one mounted there."""
    above = [m for m in mounts if path == m.point or path.startswith(m.point.rstrip("/") + "/")]
    longest = max((len(mount.point) for mount in above), default=0)
    return next((mount for mount in reversed(above) if len(mount.point) == longest), None)


def network_mount(path: str, proc: str = "/proc") -> Mount | None:
    """Return the mount of a network file system that holds a path, links followed; None if it lies on another kind."""
    mount = mount_of(os.path.realpath(path), mounts(proc))
    return mount if mount is not None and mount.kind in NETWORK_KINDS else None


def parse_mountinfo(text: str) -> tuple[Mount, ...]:
    """Read /proc/self/mountinfo; lines of another shape are left out."""
    mounts = []
    for line in text.splitlines():
        left, dash, right = line.partition(" - ")
        mine, theirs = left.split(), right.split()
        if dash and len(mine) > 5 and len(theirs) > 1:
            options = (*mine[5].split(","), *(theirs[2].split(",") if len(theirs) > 2 else ()))
            mounts.append(Mount(_unescaped(mine[4]), theirs[0], tuple(dict.fromkeys(options)), _unescaped(theirs[1])))
    return tuple(mounts)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), text)


def _text(path: str) -> str:
    return head(path, 4 << 20).decode(errors="surrogateescape")


def places(target: Target, host: Host) -> Iterable[tuple[str, str, str]]:
    """Yield (use, path, variable that moves it) of the directories that a job writes to."""
    yield "environment", target.prefix, ""
    yield "shared memory", SHM, ""
    yield "temporary files", cache_places.temporary(host)[0], "TMPDIR"
    for place in cache_places.places(host):
        yield f"{place.kind.replace('_', ' ')} cache", place.path, place.variable


def _spaces(target: Target, host: Host) -> Iterable[Space]:
    for use, path, variable in places(target, host):
        existing = _existing(os.path.join(host.cwd, path))
        try:
            status, device = os.statvfs(existing), os.stat(existing).st_dev
        except OSError:
            continue
        quota = quotas.left(existing)
        yield Space(
            path,
            use,
            total=status.f_blocks * status.f_frsize,
            free=status.f_bavail * status.f_frsize,
            inodes=status.f_files,
            inodes_free=status.f_favail,
            variable=variable,
            device=device,
            quota=quota.size if quota else None,
            quota_inodes=quota.files if quota else None,
        )


def _existing(path: str) -> str:
    """Return the nearest directory above a path that is there: a cache need not exist yet."""
    while not os.path.exists(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return path


def _soft(number: int) -> int | None:
    soft, _ = resource.getrlimit(number)
    return None if soft == resource.RLIM_INFINITY else soft


def _memory(membership: str) -> dict[str, int | None]:
    """Return limit and use of the tightest control group above this process."""
    found = [(_number(limit), _number(used)) for limit, used in control_groups(membership)]
    limited = [(limit, used) for limit, used in found if limit is not None]
    limit, used = min(limited, default=(None, None), key=lambda pair: pair[0])
    return {"memory_limit": limit, "memory_used": used}


def control_groups(membership: str) -> Iterable[tuple[str, str]]:
    """Yield the files with limit and use of every memory control group above a process, from /proc/PID/cgroup.

    cgroups(7): `0::/path` is version 2, `N:memory:/path` version 1. A limit anywhere above counts. In a container the
    path may be the host's while the mount shows only the container's own part; what is not there is passed over.
    """
    for line in membership.splitlines():
        _, controllers, path = line.split(":", 2) if line.count(":") > 1 else ("", "?", "")
        if controllers == "":
            root, names = "/sys/fs/cgroup", ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            root, names = "/sys/fs/cgroup/memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        above = path.strip("/").split("/") if path.strip("/") else []
        for depth in range(len(above), -1, -1):
            folder = os.path.join(root, *above[:depth])
            yield os.path.join(folder, names[0]), os.path.join(folder, names[1])


def _number(path: str) -> int | None:
    """Read a file that holds one number; version 1 says "no limit" by one near 2**63, version 2 by `max`."""
    text = _text(path).strip()
    return int(text) if text.isascii() and text.isdigit() and int(text) < 1 << 62 else None
