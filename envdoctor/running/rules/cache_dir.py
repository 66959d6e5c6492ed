"""Compile caches that lie where none should move to a directory of this user's own, one for each target.

By `cache/noexec`, `cache/ephemeral`, `cache/writable-by-others`, `cache/foreign-owner` and `cache/not-writable`, judged
of the directory itself; what lies in it is the check's. A cache moves only to a place that has none of these faults and
lies on no network file system. One that is merely passing, and warm, stays as long as the other place is empty: a move
would make it cold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from envdoctor.environ import Change, Left, change
from envdoctor.facts.compile_caches import CompileCache, CompileCaches
from envdoctor.model import Finding, Unavailable
from envdoctor.probes.cache import (
    ephemeral,
    foreign_owner,
    network_filesystem,
    noexec,
    not_writable,
    writable_by_others,
)
from envdoctor.running.sanitising import Scene, not_judged
from envdoctor.views import own_caches

RULE = "cache-dir"
Check = Callable[..., Iterable[Finding]]
FAULTS = (noexec.check, writable_by_others.check, foreign_owner.check, not_writable.check)
"""Faults with which a cache cannot or must not be used."""


def changes(scene: Scene) -> Iterator[Change | Left]:
    """Move what can be moved to a better place."""
    now, others = scene.facts["caches"], scene.facts["other_caches"]
    if isinstance(now, Unavailable) or isinstance(others, Unavailable):
        yield not_judged(RULE, now if isinstance(now, Unavailable) else others)
        return
    for cache in now.caches:
        other = others.of(cache.kind)
        bad, passing = list(_found(scene, cache, FAULTS)), list(_found(scene, cache, (ephemeral.check,)))
        if other is not None and (bad or passing):
            yield _moved(scene, cache, other, bad, passing)


def _moved(scene: Scene, cache: CompileCache, other: CompileCache, bad: list[str], passing: list[str]) -> Change | Left:
    variable, why = cache.place.variable, "; ".join([*bad, *passing])
    against = list(_found(scene, replace(other, exists=True), (*FAULTS, ephemeral.check, network_filesystem.check)))
    if against:
        return Left(RULE, f"{why}; the place for it is no better: {against[0]}", minor=not bad)
    if not bad and cache.files and not other.files:
        return Left(RULE, f"{why}; it stays there while it is warm, and {other.path} is empty", minor=True)
    after = other.path.removesuffix("/.cache/flashinfer") if cache.kind == "flashinfer" else other.path
    return change(scene.env, RULE, variable, after, f"is {after}", f"{why}; {_state(other)}")


def _state(other: CompileCache) -> str:
    return "what was compiled there is found" if other.files else "cold this time, warm from the next start on"


def _found(scene: Scene, cache: CompileCache, checks: tuple[Check, ...]) -> Iterator[str]:
    """Yield what probes say of one cache."""
    alone = CompileCaches((cache,), scene.facts["caches"].uid, scene.facts["caches"].taken_at)
    for check in checks:
        found = scene.judged(check, compile_caches=alone, own_caches=own_caches.view(alone))
        yield from () if isinstance(found, Unavailable) else (finding.message for finding in found)
