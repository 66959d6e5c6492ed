"""What proves that a process started from a warm compile cache; pure.

Stable names of torch._dynamo.utils.counters, torch 2.9 to 2.15: torch/_inductor/codecache.py and
torch/_functorch/_aot_autograd/autograd_cache.py. Counters alone are no proof (C++ kernels are built anew while all of
them say hit), nor are files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

MISSES = ("miss", "bypass", "guard_miss")
"""Endings of counters that must be 0."""
GRAPHS, AUTOGRAD = "fxgraph_cache", "autograd_cache"
GROUPS: Mapping[str, str] = {GRAPHS: "inductor", AUTOGRAD: "aot_autograd"}
"""Cache -> the group of counters that counts it."""


def missed(cache: str, counters: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Say what the counters of one cache say against a warm start."""
    if not counters.get(GROUPS[cache], {}).get(f"{cache}_hit"):
        yield f"no {cache}_hit"
    yield from misses(cache, counters)


def misses(cache: str, counters: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Say what was not found there."""
    counted = counters.get(GROUPS[cache], {})
    yield from (
        f"{cache}_{ending} {counted[f'{cache}_{ending}']}" for ending in MISSES if counted.get(f"{cache}_{ending}")
    )


def grown(new: Sequence[str], count: int, *, shared: bool) -> Iterator[str]:
    """Say so if files are new; in a cache that others may use they can be another job's."""
    if new:
        others = ", if no other job wrote them" if shared else ""
        yield f"{count} new file{'s' if count > 1 else ''} in the cache, such as {new[0]}{others}"
