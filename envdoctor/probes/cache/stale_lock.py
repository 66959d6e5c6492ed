"""A lock of torch's extension cache has no builder any more.

Why it matters: whoever needs that extension waits until the file `lock` is gone, without a timeout and without a look
at its owner: the job hangs at "Using ... as PyTorch extensions root". A build that was killed leaves the lock behind.

What to do: make sure that nobody builds it, on any node that shares the directory, and delete that file. A lock counts
as stale at the age of `limits.lock` seconds of the configuration; with a live builder it is a note at any age.
"""

from __future__ import annotations

from collections.abc import Iterable
from shlex import quote

from envdoctor.facts.cache_builds import Lock
from envdoctor.facts.compile_caches import CompileCaches
from envdoctor.model import Finding, Severity
from envdoctor.policy import Policy


def check(compile_caches: CompileCaches, policy: Policy) -> Iterable[Finding]:
    """Judge each lock by its age and its holder."""
    for cache in compile_caches.caches:
        for lock in cache.locks:
            stale = lock.age >= policy.limits["lock"] and not lock.holders
            yield Finding(
                Severity.ERROR if stale else Severity.NOTE,
                lock.path,
                f"{lock.path} is {_age(lock.age)} old{_holder(lock, stale=stale)}",
                {
                    "cache": cache.path,
                    "age": round(lock.age),
                    "holders": [f"{user.pid} ({user.command} of {user.user})" for user in lock.holders],
                },
                (f"rm {quote(lock.path)}",) if stale else (),
            )


def _holder(lock: Lock, *, stale: bool) -> str:
    if lock.holders:
        user = lock.holders[0]
        return f", and pid {user.pid} ({user.command} of {user.user}) is building"
    if stale:
        return ", and nobody seen here is building: whoever needs that extension waits for ever"
    return ": an extension is being built, or a build has just been killed"


def _age(seconds: float) -> str:
    if seconds < 120:
        return f"{max(seconds, 0):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
