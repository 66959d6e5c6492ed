"""A compile cache lies on a network file system.

Why it matters: ranks of several nodes write, replace and load the same files there; one of them meets "Stale file
handle" or half a file, and the job hangs until NCCL's watchdog ends it. On one node it is slow, and the server's pauses
are the job's.

What to do: let TRITON_CACHE_DIR and TORCHINDUCTOR_CACHE_DIR name a directory on a disk of each node, one for each user.
Clearing the cache does not help.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.compile_caches import CompileCaches
from envdoctor.facts.node import NETWORK_KINDS, Node
from envdoctor.facts.variables import Variables
from envdoctor.model import Finding, Severity


def check(compile_caches: CompileCaches, node: Node, variables: Variables) -> Iterable[Finding]:  # noqa: ARG001
    """Judge those that a compile writes to, and of the others those that are there."""
    nodes = _nodes(variables)
    for cache in compile_caches.caches:
        mount = cache.mount
        if mount is None or mount.kind not in NETWORK_KINDS or not (cache.always_used or cache.exists):
            continue
        several = f", and the job runs on {nodes} nodes" if nodes > 1 else ""
        yield Finding(
            Severity.ERROR if nodes > 1 else Severity.WARNING,
            cache.path,
            f"{cache.named} ({cache.place.why}) lies on {mount.point}, a network file system ({mount.kind} from "
            f"{mount.source}){several}",
            {"cache": cache.path, "mount": mount.point, "kind": mount.kind, "source": mount.source, "nodes": nodes},
            (f"export {cache.place.variable}=<a directory on a disk of this node, of your own>",),
        )


def _nodes(variables: Variables) -> int:
    """Return the number of nodes of the job: Slurm's, else as torchrun's sizes have it."""
    told = _number(variables.get("SLURM_NNODES"))
    world, local = _number(variables.get("WORLD_SIZE")), _number(variables.get("LOCAL_WORLD_SIZE"))
    return max(told, world // local if world and local else 0, 1)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
