"""Shared memory (/dev/shm) is too small for data loader workers.

Why it matters: workers hand tensors over through /dev/shm, and so do ranks of NCCL on one node. When it is full the
kernel ends a worker with a bus error, or a collective hangs at the start. Containers get 64 MB unless they ask.

What to do: start the container with a larger share (`--shm-size=16g`, or `--ipc=host`; in Kubernetes an emptyDir of
medium Memory at /dev/shm), or remount it larger. The limit is `limits.shm` of the configuration.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.node import SHM, Node
from envdoctor.model import Finding, Severity
from envdoctor.policy import Policy
from envdoctor.printable import size_of


def check(node: Node, policy: Policy) -> Iterable[Finding]:
    """Judge its size; what is in use passes with the jobs."""
    shm = node.space("shared memory")
    mount = node.mount_of(SHM)
    if shm is None or (mount is not None and mount.kind not in ("tmpfs", "ramfs", "rootfs")):
        return
    if shm.total < policy.limits["shm"]:
        yield Finding(
            Severity.WARNING,
            SHM,
            f"{SHM} holds {size_of(shm.total)}; data loader workers pass tensors through it",
            {"total": shm.total, "free": shm.free, "wanted": policy.limits["shm"]},
            ("in a container: --shm-size=16g or --ipc=host", f"elsewhere, as root: mount -o remount,size=16G {SHM}"),
        )
