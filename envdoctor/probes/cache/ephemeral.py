"""A compile cache lies where it does not stay.

Why it matters: a cache in memory, in a container's own layer, or where old files are removed is gone at the next start,
or loses parts of itself: entries that are read less often than the cleaner runs.

What to do: let TORCHINDUCTOR_CACHE_DIR and TRITON_CACHE_DIR name a directory that stays, outside /tmp and mounted into
the container; or spare it (`x /tmp/torchinductor_*` in a file of /etc/tmpfiles.d).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from envdoctor.facts.compile_caches import CompileCache, CompileCaches
from envdoctor.facts.node import Node
from envdoctor.model import Finding, Severity, Unavailable

LAYERS = {
    "overlay": "a container's own layer",
    "aufs": "a container's own layer",
    "fuse-overlayfs": "a container's own layer",
}
MEMORY = {"tmpfs": "memory", "ramfs": "memory"}
DAY = 86400


def check(compile_caches: CompileCaches, node: Node | Unavailable) -> Iterable[Finding]:  # noqa: ARG001
    """Judge inductor's and triton's; where something is there that a cleaner will take, it is a warning."""
    for cache in compile_caches.caches:
        if not cache.always_used:
            continue
        reasons = list(_reasons(cache))
        if reasons:
            rule = cache.cleaner
            yield Finding(
                Severity.WARNING if rule and cache.files else Severity.NOTE,
                cache.path,
                f"{cache.named} ({cache.place.why}) does not stay: {'; '.join(reasons)}",
                {
                    "cache": cache.path,
                    "mount": cache.mount.point if cache.mount else None,
                    "kind": cache.mount.kind if cache.mount else None,
                    "rule": f"{rule.file}: {rule.rule}" if rule else None,
                },
                (f"export {cache.place.variable}=<a directory that stays>",),
            )


def _reasons(cache: CompileCache) -> Iterator[str]:
    kind = cache.mount.kind if cache.mount else ""
    if cache.mount and kind in MEMORY | LAYERS:
        yield f"{cache.mount.point} is {(MEMORY | LAYERS)[kind]} ({kind}), gone at the next start"
    if cache.cleaner is not None:
        age = cache.cleaner.age
        span = f"{age / DAY:g} days" if age >= DAY else f"{age / 3600:g} hours"
        yield f"{cache.cleaner.file} removes what is older than {span} from {cache.cleaner.path}"
