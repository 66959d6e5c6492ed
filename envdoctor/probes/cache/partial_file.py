"""A file of a compile cache is empty, cut off, or was never finished.

Why it matters: a full disk, a killed job or an age-based cleaner leaves such files. An empty module or library makes
every run fail; an empty kernel counts as a hit and fails on the GPU. Temporary files of dead writers only take room.

What to do: remove that one file, or the directory of that kernel; entries are independent of each other.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.compile_caches import CompileCaches
from envdoctor.model import Finding, Severity
from envdoctor.views.damages import Damages


def check(damages: Damages, compile_caches: CompileCaches) -> Iterable[Finding]:
    """Report entries by what torch does with them, and the leftovers of each cache once."""
    yield from damages.of("empty", "truncated-elf")
    for cache in compile_caches.caches:
        if cache.leftovers:
            count = cache.leftovers_count
            yield Finding(
                Severity.NOTE,
                cache.path,
                f"{count:,} temporary file{'s' * (count > 1)} of writers that are dead lie{'s' * (count == 1)} in "
                f"{cache.path}; torch passes over them, 2.9 and 2.10 with a warning",
                {"cache": cache.path, "paths": [part.path for part in cache.leftovers], "count": count},
            )
