"""What the compile caches hold for this build of torch and triton, kind by kind and device by device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from envdoctor.facts.cache_counts import GRAPHS, KINDS, of_build
from envdoctor.facts.compile_caches import CompileCache, CompileCaches
from envdoctor.facts.jit_tools import JitTools
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Unavailable


@dataclass(frozen=True, slots=True)
class Warmth:
    """Counts of keys. Bytes say nothing of warmth: one precompiled header is larger than a thousand keys."""

    cache: CompileCache
    """That of inductor."""
    counts: Mapping[tuple[str, str], int]
    """(kind, device) -> keys; the device "" stands for all together."""
    sampled: bool
    """False if not every key could be read: then nothing is known by device."""

    def keys(self, kind: str, device: str = "") -> int:
        """Return the keys of a kind, for one device or in all."""
        return self.counts.get((kind, device), 0)

    @property
    def cold(self) -> bool:
        """True if there is no graph for this build."""
        return not any(self.keys(kind) for kind in GRAPHS)

    def devices(self) -> frozenset[str]:
        """Return the GPUs that graphs or generated modules are for."""
        return frozenset(device for kind, device in self.counts if kind != "triton" and device.startswith("cuda:"))


def view(
    compile_caches: CompileCaches, torch_build: TorchBuild, jit_tools: JitTools | Unavailable
) -> Warmth | Unavailable:
    """Add up the caches of inductor and triton, unless one could not be walked through."""
    inductor = compile_caches.of("inductor")
    if inductor is None:
        return Unavailable("inductor's cache was not looked for")
    triton = None if isinstance(jit_tools, Unavailable) else jit_tools.triton
    counts: Counter[tuple[str, str]] = Counter()
    sampled = True
    for cache in relevant(compile_caches):
        if not cache.complete:
            return Unavailable(f"{cache.path}: {cache.problem or 'the walk through it was cut short'}")
        own = of_build(cache.keys, cache.counts, torch_build.version or "", (triton.version or "") if triton else "")
        counts.update(own)
        sampled = sampled and cache.sampled
    known = {named: number for named, number in counts.items() if number and (sampled or not named[1])}
    return Warmth(inductor, known, sampled)


def relevant(compile_caches: CompileCaches) -> Iterator[CompileCache]:
    """Yield the caches with keys; one that lies in the other is not counted twice."""
    inductor, triton = compile_caches.of("inductor"), compile_caches.of("triton")
    if inductor is not None:
        yield inductor
    if triton is not None and not (inductor and f"{triton.path}/".startswith(f"{inductor.path}/")):
        yield triton


def spoken(counts: Mapping[str, int]) -> str:
    """Say counts by kind: `412 fxgraph and 206 aotautograd keys`."""
    said = [f"{counts[kind]:,} {kind}" for kind in KINDS if counts.get(kind)]
    return f"{' and '.join(filter(None, (', '.join(said[:-1]), *said[-1:])))} keys" if said else "no keys"
