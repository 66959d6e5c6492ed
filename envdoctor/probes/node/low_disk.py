"""A directory that the job writes to is nearly full.

Why it matters: a full temporary directory or cache ends a compile half-way and leaves partial files; a full disk ends a
run at its next checkpoint. Inodes run out while bytes are still free.

What to do: free space, or point TMPDIR and the caches at another file system. The limits are `limits.disk` and
`limits.inodes` of the configuration.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.node import Node, Space
from envdoctor.model import Finding, Severity
from envdoctor.policy import Policy
from envdoctor.printable import size_of

FULL = 16 << 20
"""Bytes with which nothing can be compiled: a single C++ kernel with its headers takes more."""


def check(node: Node, policy: Policy) -> Iterable[Finding]:
    """Judge each place; shared memory is node/small-shm's."""
    for space in node.spaces:
        if space.use == "shared memory" or not space.total:
            continue
        if space.free < policy.limits["disk"]:
            what = f"{size_of(space.free)} of {size_of(space.total)}"
            yield _finding(space, what, Severity.ERROR if space.free < FULL else Severity.WARNING)
        elif space.inodes and space.inodes_free < policy.limits["inodes"]:
            what = f"{space.inodes_free:,} of {space.inodes:,} inodes"
            yield _finding(space, what, Severity.ERROR if not space.inodes_free else Severity.WARNING)


def _finding(space: Space, what: str, severity: Severity) -> Finding:
    move = (f"point {space.variable} elsewhere",) if space.variable else ()
    return Finding(
        severity,
        space.path,
        f"{space.path} ({space.use}) has {what} free",
        {"use": space.use, "free": space.free, "total": space.total, "inodes_free": space.inodes_free},
        (f"df -h {space.path}; df -i {space.path}", *move),
    )
