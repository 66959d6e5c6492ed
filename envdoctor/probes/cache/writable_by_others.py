"""Others may write to a compile cache, or replace it.

Why it matters: torch unpickles whatever lies in a key's directory and loads libraries by their names; no owner, mode or
signature is looked at. A directory above the cache that others may write, and that has no sticky bit, lets them put
another cache in its place.

What to do: take the right away (`chmod go-w`), or move the cache to a directory of your own with mode 0700.
"""

from __future__ import annotations

from collections.abc import Iterable
from shlex import quote

from envdoctor.facts.compile_caches import CompileCache
from envdoctor.model import Finding, Severity
from envdoctor.views.own_caches import ATTACK, OwnCaches


def check(own_caches: OwnCaches) -> Iterable[Finding]:
    """Judge each cache that is there, what is above it, and what lies in it."""
    for cache in own_caches.caches:
        access = cache.access
        if not cache.exists:
            continue
        if access.open_at is not None:
            place = cache.named if access.open_at == cache.path else f"{access.open_at}, above {cache.named},"
            yield _finding(cache, access.open_at, f"others may write {place}: mode {access.open_mode or 0:04o}")
        elif cache.open_to_all and not _closed(cache):
            what = f"everybody may write {cache.open_to_all:,} entries of {cache.named}, such as {cache.first_open}"
            yield _finding(cache, cache.path, what)


def _closed(cache: CompileCache) -> bool:
    """Tell whether others cannot come into the cache at all, whatever the modes in it are."""
    return cache.access.mode is not None and not cache.access.mode & 0o011


def _finding(cache: CompileCache, path: str, what: str) -> Finding:
    every = "-R " if path == cache.path else ""
    return Finding(
        Severity.ERROR,
        cache.path,
        f"{what}; {ATTACK}",
        {
            "cache": cache.path,
            "open_at": cache.access.open_at,
            "mode": None if cache.access.open_mode is None else f"{cache.access.open_mode:04o}",
            "owner": cache.access.open_owner,
            "count": cache.open_to_all,
        },
        (f"chmod {every}go-w {quote(path)}", f"or export {cache.place.variable}=<a directory of your own, mode 0700>"),
    )
