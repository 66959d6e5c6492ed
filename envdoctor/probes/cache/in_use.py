"""A running process uses a compile cache.

Why it matters: it is no fault. But who cleans, restores or replaces the cache now takes files away under a job, and
entries that look unfinished may be in the making.

What to do: wait until it has ended before anything is removed. Processes of other users can be seen by root alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Severity
from envdoctor.views.own_caches import OwnCaches


def check(own_caches: OwnCaches) -> Iterable[Finding]:
    """Name the users of each cache."""
    for cache in own_caches.caches:
        if cache.users:
            first, more = cache.users[0], len(cache.users) - 1
            others = f" and {more} more" if more else ""
            yield Finding(
                Severity.NOTE,
                cache.path,
                f"{cache.named} is in use by pid {first.pid} ({first.command} of {first.user}){others}",
                {
                    "cache": cache.path,
                    "users": [f"{user.pid} ({user.command} of {user.user})" for user in cache.users[:50]],
                    "count": len(cache.users),
                },
            )
