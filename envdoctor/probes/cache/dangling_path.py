"""A kernel of triton's cache names files that are not there.

Why it matters: triton keeps absolute paths in `__grp__*.json`. In a cache that was moved or copied they lead to the old
place: while that is there it is silently read on, once it is gone every kernel is compiled again.

What to do: put the cache back where it was made, or remove the kernel's directory; triton then compiles it again.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding
from envdoctor.views.damages import Damages


def check(damages: Damages) -> Iterable[Finding]:
    """Report each cache once for each thing that triton does."""
    yield from damages.of("dangling-child")
