"""A file system that the job writes to is nearly full, or what a quota leaves of it is nearly used up.

Why it matters: a full temporary directory or cache ends a compile half-way and leaves partial files; a full disk ends a
run at its next checkpoint. Inodes run out while bytes are still free; a quota runs out while the disk is empty.

What to do: free space, or point TMPDIR and the caches at another file system. The limits are `limits.disk` and
`limits.inodes` of the configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from envdoctor.facts.node import Node, Space
from envdoctor.model import Finding, Severity
from envdoctor.policy import Policy
from envdoctor.printable import size_of

FULL = 16 << 20
"""Bytes with which nothing can be compiled: a single C++ kernel with its headers takes more."""


def check(node: Node, policy: Policy) -> Iterable[Finding]:
    """Judge each file system by the first place in it; shared memory is node/small-shm's."""
    for spaces in _shared(node):
        for what, severity in list(_short(spaces[0], policy))[:1]:
            yield _finding(spaces, what, severity)


def _shared(node: Node) -> Iterable[list[Space]]:
    """Put together what lies in one file system; one that is not known stands alone."""
    groups: dict[tuple[int, int] | str, list[Space]] = {}
    for space in node.spaces:
        if space.use != "shared memory" and space.total:
            groups.setdefault((space.device, space.total) if space.device else space.path, []).append(space)
    return groups.values()


def _short(space: Space, policy: Policy) -> Iterator[tuple[str, Severity]]:
    """Yield what there is too little of, bytes before inodes, and how bad that is."""
    bytes_, inodes = policy.limits["disk"], policy.limits["inodes"]
    if space.free < bytes_:
        yield f"{size_of(space.free)} of {size_of(space.total)} free", _bad(space.free, FULL)
    if space.quota is not None and space.quota < bytes_:
        yield f"{size_of(space.quota)} of your quota left", _bad(space.quota, FULL)
    if space.inodes and space.inodes_free < inodes:
        yield f"{space.inodes_free:,} of {space.inodes:,} inodes free", _bad(space.inodes_free, 1)
    if space.quota_inodes is not None and space.quota_inodes < inodes:
        yield f"{space.quota_inodes:,} inodes of your quota left", _bad(space.quota_inodes, 1)


def _bad(left: int, least: int) -> Severity:
    return Severity.ERROR if left < least else Severity.WARNING


def _finding(spaces: list[Space], what: str, severity: Severity) -> Finding:
    space, uses = spaces[0], ", ".join(each.use for each in spaces)
    movable = [each.variable for each in spaces if each.variable]
    look = f"quota -s; df -h {space.path}" if "quota" in what else f"df -h {space.path}; df -i {space.path}"
    return Finding(
        severity,
        space.path,
        f"{space.path} ({uses}) has {what}",
        {
            "uses": {each.use: each.path for each in spaces},
            "free": space.free,
            "total": space.total,
            "inodes_free": space.inodes_free,
            "quota": space.quota,
            "quota_inodes": space.quota_inodes,
        },
        (look, *((f"point {', '.join(movable)} elsewhere",) if movable else ())),
    )
