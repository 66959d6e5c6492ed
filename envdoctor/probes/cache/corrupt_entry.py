"""An entry of a compile cache is damaged.

Why it matters: a generated module, library or kernel is found by its name, and its content is not verified. Many a
damaged one makes every run fail, and nothing ever replaces it: the name is a hash, and what exists is not rewritten.

What to do: remove that one entry; all others stay good. Never delete the whole cache as a first step.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding
from envdoctor.views.damages import Damages


def check(damages: Damages) -> Iterable[Finding]:
    """Report what is something else than its name says; the severity is that of what torch does with it."""
    yield from damages.of("not-elf", "not-json", "not-python", "missing-cubin")
