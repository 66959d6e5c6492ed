"""A compile cache cannot be written by this user.

Why it matters: torch and triton write locks and entries even where everything is there already; without the right to
they end with PermissionError. A directory in /tmp that several users share is the first one's, and his umask decides.

What to do: let TORCHINDUCTOR_CACHE_DIR, TRITON_CACHE_DIR and TORCH_EXTENSIONS_DIR name directories of this user's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.cache_access import Access
from envdoctor.facts.compile_caches import CompileCache
from envdoctor.model import Finding, Severity
from envdoctor.views.own_caches import OwnCaches


def check(own_caches: OwnCaches) -> Iterable[Finding]:
    """Judge those that a compile needs, and of the others those that are there."""
    for cache in own_caches.caches:
        severity = _severity(cache)
        if cache.access.writable is False and severity is not None:
            yield Finding(
                severity,
                cache.path,
                f"{cache.named} ({cache.place.why}) cannot be written by this user: {_why(cache)}",
                {
                    "cache": cache.path,
                    "owner": cache.access.owner,
                    "mode": _octal(cache.access),
                    "refuses": cache.access.refuses,
                },
                (f"export {cache.place.variable}=<a directory of your own on a local disk>",),
            )


def _severity(cache: CompileCache) -> Severity | None:
    """Return an error for what no compile goes on without; of the others only those count that are there."""
    if cache.kind == "inductor" or (cache.kind == "triton" and (cache.exists or cache.place.chosen)):
        return Severity.ERROR
    if not cache.exists:
        return None
    return Severity.NOTE if cache.kind == "cuda" else Severity.WARNING


def _why(cache: CompileCache) -> str:
    if cache.problem and not cache.exists:
        return f"it {cache.problem}"
    if not cache.exists:
        return f"it is not there, and {cache.access.refuses} does not let it be made"
    return f"it belongs to user {cache.access.owner} and has mode {_octal(cache.access)}"


def _octal(access: Access) -> str | None:
    return None if access.mode is None else f"{access.mode:04o}"
