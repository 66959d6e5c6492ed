"""Entries of a compile cache were made by another build than the one that is installed.

Why it matters: torch finds no entry of another torch, CUDA or triton, so the job starts cold from a cache that looks
full; the entries stay for ever and take their room. Kernels made for another GPU or out of another environment show
that a cache is shared by jobs that should not share it.

What to do: nothing, if the environment was meant to change: warm the cache anew. Otherwise put the environment back.
Give each environment a cache of its own by TORCHINDUCTOR_CACHE_DIR.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from envdoctor.facts.cache_makers import Maker
from envdoctor.facts.compile_caches import CompileCache, CompileCaches
from envdoctor.facts.driver import Driver
from envdoctor.facts.jit_tools import JitTools
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Severity, Target, Unavailable

Difference = tuple[str, str, list[Maker], int]
"""What differs, what the environment has, who else made entries, and how many are the environment's own."""


def check(
    compile_caches: CompileCaches,
    torch_build: TorchBuild,
    jit_tools: JitTools | Unavailable,
    driver: Driver | Unavailable,
    target: Target,
) -> Iterable[Finding]:
    """Compare what entries name with what is installed; a cache in which nothing is the target's own is a warning."""
    triton = None if isinstance(jit_tools, Unavailable) else jit_tools.triton
    own = _Own(
        torch_build,
        (triton.version,) if triton and triton.version else (),
        () if isinstance(driver, Unavailable) else _capabilities(driver),
        (target.prefix, *((triton.location.partition("/lib/python")[0],) if triton else ())),
    )
    for cache in compile_caches.caches:
        found = list(_differences(cache, own))
        if found:
            yield _finding(cache, found)


@dataclass(frozen=True, slots=True)
class _Own:
    """What entries of this environment would name."""

    torch: TorchBuild
    triton: tuple[str, ...]
    arch: tuple[str, ...]
    environment: tuple[str, ...]


def _capabilities(driver: Driver) -> tuple[str, ...]:
    found = {gpu.capability for gpu in driver.gpus if gpu.capability}
    return tuple(".".join(map(str, capability)) for capability in sorted(found))


def _differences(cache: CompileCache, own: _Own) -> Iterator[Difference]:
    by_torch = _others(cache, "torch", _known(own.torch.version))
    if by_torch:
        yield by_torch
    else:  # the same version may still be another build
        git, cuda = _others(cache, "torch git", _known(own.torch.git)), _others(cache, "cuda", _known(own.torch.cuda))
        yield from filter(None, (git, cuda))
    rest = (("triton", own.triton), ("arch", own.arch), ("environment", own.environment))
    yield from filter(None, (_others(cache, what, values) for what, values in rest))


def _known(value: str | None) -> tuple[str, ...]:
    return (value,) if value else ()


def _others(cache: CompileCache, what: str, own: tuple[str, ...]) -> Difference | None:
    makers = [maker for maker in cache.makers if maker.what == what]
    others = [maker for maker in makers if maker.value not in own]
    if not own or not others:
        return None
    return what, own[0], others, sum(maker.entries for maker in makers if maker.value in own)


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
    word = "for" if what == "arch" else "by"
    made = ", ".join(f"{maker.entries:,} {word} {maker.value}" for maker in others[:3])
    more = f" and {len(others) - 3} more" if len(others) > 3 else ""
    return f"{what} {made}{more}, {f'{mine:,}' if mine else 'none'} {word} {own}, which is here"
