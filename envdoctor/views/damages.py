"""Damaged entries of the compile caches, put together by what is wrong and what torch does when it meets them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from shlex import quote

from envdoctor.facts.cache_entries import Damaged
from envdoctor.facts.compile_caches import CompileCache, CompileCaches
from envdoctor.facts.jit_tools import JitTools
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.versions import satisfies

SHOWN = 50
HEALED = (("Triton 3.6", "triton", ">=3.8.dev0"), ("torch 2.11", "torch", ">=2.13.dev0"))
"""How a consequence of older releases begins, and the releases that bear the damage (knowledge of cache_faults)."""
_AT_WORST = ("Triton compiles again", "torch warns", "torch passes over")


@dataclass(frozen=True, slots=True)
class Group:
    """Entries of one cache with the same damage."""

    cache: CompileCache
    severity: Severity
    entries: tuple[Damaged, ...]

    def finding(self) -> Finding:
        """Say it."""
        first, more = self.entries[0], len(self.entries) - 1
        others = f", and {more} more" if more else ""
        removed = list(dict.fromkeys(entry.remove for entry in self.entries))
        return Finding(
            self.severity,
            first.path,
            f"{first.path} {first.what}{others}; {first.consequence}",
            {
                "cache": self.cache.path,
                "kind": first.kind,
                "paths": [entry.path for entry in self.entries[:SHOWN]],
                "count": len(self.entries),
                "then": first.consequence,
                "remove": removed[:SHOWN],
            },
            _removal(removed),
        )


@dataclass(frozen=True, slots=True)
class Damages:
    """All groups."""

    groups: tuple[Group, ...] = ()

    def of(self, *kinds: str) -> Iterator[Finding]:
        """Yield the findings of these kinds of damage."""
        yield from (group.finding() for group in self.groups if group.entries[0].kind in kinds)


def view(
    compile_caches: CompileCaches, torch_build: TorchBuild | Unavailable, jit_tools: JitTools | Unavailable
) -> Damages:
    """Put entries of one cache, kind and consequence together."""
    triton = None if isinstance(jit_tools, Unavailable) or jit_tools.triton is None else jit_tools.triton.version
    torch = None if isinstance(torch_build, Unavailable) else torch_build.version
    versions = {"triton": triton, "torch": torch}
    groups: dict[tuple[str, str, str], list[Damaged]] = {}
    by_path = {cache.path: cache for cache in compile_caches.caches}
    for cache in compile_caches.caches:
        for entry in cache.damage.entries:
            groups.setdefault((cache.path, entry.kind, entry.consequence), []).append(entry)
    return Damages(
        tuple(
            Group(by_path[path], _severity(entries[0], versions), tuple(entries))
            for (path, _, _), entries in groups.items()
        )
    )


def _severity(entry: Damaged, versions: dict[str, str | None]) -> Severity:
    """Return an error for what a run fails by, a warning for what costs a compile, a note for what costs nothing."""
    if entry.harmless:
        return Severity.NOTE
    for beginning, name, healed in HEALED:
        version = versions[name]
        if entry.consequence.startswith(beginning) and version and satisfies(version.partition("+")[0], healed):
            return Severity.WARNING
    return Severity.WARNING if entry.consequence.startswith(_AT_WORST) else Severity.ERROR


def _removal(paths: list[str]) -> tuple[str, ...]:
    more = (f"remove the {len(paths) - 8} others too: --format json lists them",) if len(paths) > 8 else ()
    return (f"rm -r {' '.join(quote(path) for path in paths[:8])}", *more)
