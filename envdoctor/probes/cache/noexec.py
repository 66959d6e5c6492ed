"""A compile cache lies on a file system that is mounted noexec.

Why it matters: what is compiled is loaded as a shared object, which such a mount refuses: "failed to map segment from
shared object". Containers mount tmpfs that way, and hardened hosts /tmp.

What to do: let TORCHINDUCTOR_CACHE_DIR and TRITON_CACHE_DIR name directories on a mount without it; TMPDIR too, since
compilers work there.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.compile_caches import CompileCaches
from envdoctor.facts.node import Node
from envdoctor.model import Finding, Severity


def check(compile_caches: CompileCaches, node: Node) -> Iterable[Finding]:  # noqa: ARG001 - without mounts: skipped
    """Judge those that libraries are loaded from; the driver reads CUDA's own cache as data."""
    for cache in compile_caches.caches:
        mount = cache.mount
        if mount is None or "noexec" not in mount.options or cache.kind == "cuda":
            continue
        if cache.always_used or cache.exists:
            yield Finding(
                Severity.ERROR,
                cache.path,
                f"{cache.named} ({cache.place.why}) lies on {mount.point} ({mount.kind}), which is mounted noexec: "
                "nothing that is compiled can be loaded from it",
                {"cache": cache.path, "mount": mount.point, "kind": mount.kind, "options": list(mount.options)},
                (f"export {cache.place.variable}=<a directory on a mount without noexec>",),
            )
