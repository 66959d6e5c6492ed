"""Entries of a compile cache were made by another build than the one that is installed.

Why it matters: torch finds no entry of another torch, CUDA or triton, so the job starts cold from a cache that looks
full; the entries stay for ever and take their room. Kernels made for another GPU or out of another environment show
that a cache is shared by jobs that should not share it.

What to do: nothing, if the environment was meant to change: warm the cache anew. Otherwise put the environment back.
Give each environment a cache of its own by TORCHINDUCTOR_CACHE_DIR.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from envdoctor.facts.cache_makers import Maker
from envdoctor.facts.compile_caches import CompileCache, CompileCaches
from envdoctor.facts.jit_tools import JitTools
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Severity, Target, Unavailable

Difference = tuple[str, str, list[Maker], int]
"""What differs, what the environment has, who else made entries, and how many are the environment's own."""


def check(
    compile_caches: CompileCaches, torch_build: TorchBuild, jit_tools: JitTools | Unavailable, target: Target
) -> Iterable[Finding]:
    """Compare what entries name with what is installed; a cache in which nothing is the target's own is a warning."""
    triton = None if isinstance(jit_tools, Unavailable) or jit_tools.triton is None else jit_tools.triton
    for cache in compile_caches.caches:
        found = list(_differences(cache, torch_build, triton.version if triton else None, target.prefix))
        if found:
            yield _finding(cache, found)


def _differences(cache: CompileCache, torch: TorchBuild, triton: str | None, prefix: str) -> Iterator[Difference]:
    by_torch = _others(cache, "torch", torch.version)
    if by_torch:
        yield by_torch
    else:  # the same version may still be another build
        yield from filter(None, (_others(cache, "torch git", torch.git), _others(cache, "cuda", torch.cuda)))
    yield from filter(None, (_others(cache, "triton", triton), _others(cache, "environment", prefix)))


def _others(cache: CompileCache, what: str, own: str | None) -> Difference | None:
    makers = [maker for maker in cache.makers if maker.what == what]
    others = [maker for maker in makers if maker.value != own]
    if own is None or not others:
        return None
    return what, own, others, sum(maker.entries for maker in makers if maker.value == own)


def _finding(cache: CompileCache, found: list[Difference]) -> Finding:
    """Warn where the job starts cold: not where an environment moved, or a second one shares the cache."""
    cold = [what for what, _, _, own in found if not own and what != "environment"]
    return Finding(
        Severity.WARNING if cold else Severity.NOTE,
        cache.path,
        f"entries of {cache.path} were made by another build: {'; '.join(map(_said, found))}",
        {
            "cache": cache.path,
            "installed": {what: own for what, own, _, _ in found},
            "entries": {what: {maker.value: maker.entries for maker in others} for what, _, others, _ in found},
        },
        ("warm the cache anew, one step forward and backward on each device",) if cold else (),
    )


def _said(difference: Difference) -> str:
    what, own, others, mine = difference
    made = ", ".join(f"{maker.entries:,} by {maker.value}" for maker in others[:3])
    more = f" and {len(others) - 3} more" if len(others) > 3 else ""
    return f"{what} {made}{more}, {f'{mine:,}' if mine else 'none'} by {own}, which is installed"
