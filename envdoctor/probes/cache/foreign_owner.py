"""A compile cache, something in it, or a link in its place belongs to another user.

Why it matters: torch unpickles entries before it looks at them and loads libraries by their names, without asking whose
they are. On a shared node anybody can make /tmp/torchinductor_<user> before that user does.

What to do: do not run a job with it. Let TORCHINDUCTOR_CACHE_DIR name a directory of your own that others cannot write;
ask the owner what it is doing there. What belongs to root is no finding.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.compile_caches import CompileCache
from envdoctor.model import Finding, Severity
from envdoctor.views.own_caches import ATTACK, OwnCaches


def check(own_caches: OwnCaches) -> Iterable[Finding]:
    """Judge owner, link and entries of every cache that is there."""
    trusted = (own_caches.uid, 0, None)
    for cache in own_caches.caches:
        what = _what(cache, trusted)
        if what:
            yield Finding(
                Severity.ERROR,
                cache.path,
                f"{what}; {ATTACK}",
                {
                    "cache": cache.path,
                    "owner": cache.access.owner,
                    "link": cache.access.link,
                    "link_owner": cache.access.link_owner,
                    "count": cache.foreign,
                    "first": cache.first_foreign,
                },
                (f"export {cache.place.variable}=<a directory of your own, mode 0700>",),
            )


def _what(cache: CompileCache, trusted: tuple[int | None, ...]) -> str:
    access = cache.access
    if access.link is not None and access.link_owner not in trusted:
        return f"user {access.link_owner} has put a link to {access.link} in the place of {cache.named}"
    if access.owner not in trusted:
        return f"{cache.named} belongs to user {access.owner}"
    if cache.foreign:
        return f"{cache.foreign:,} entries of {cache.named} belong to other users, such as {cache.first_foreign}"
    return ""
