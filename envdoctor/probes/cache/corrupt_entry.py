"""An entry of a compile cache is damaged.

Why it matters: a generated module, library or kernel is found by its name, and its content is not verified. Many a
damaged one makes every run fail, and nothing ever replaces it: the name is a hash, and what exists is not rewritten.

What to do: remove that one entry; all others stay good. Never delete the whole cache as a first step.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.compile_caches import CompileCaches
from envdoctor.model import Finding, Severity
from envdoctor.views.damages import Damages


def check(damages: Damages, compile_caches: CompileCaches) -> Iterable[Finding]:
    """Report what is something else than its name says, and where the search for it ended early."""
    yield from damages.of("not-elf", "not-json", "not-python", "missing-cubin")
    for cache in compile_caches.caches:
        if not cache.damage.complete:
            yield Finding(
                Severity.NOTE,
                cache.path,
                f"{cache.damage.checked:,} files of {cache.named} were looked at for damage; for the others "
                f"({cache.files:,} in all) there was no time, or no right",
                {"cache": cache.path, "checked": cache.damage.checked, "files": cache.files},
            )
