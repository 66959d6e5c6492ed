"""The lock includes a file that does not belong to it.

Why it matters: pip and uv follow `-r` and `-c` anywhere: to a file that is another one on the next machine, to an
address that answers something else tomorrow, in a circle. What is reviewed is then not what is installed.

What to do: keep included files below the folder of the lock, or put their lines into the lock itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock
from envdoctor.pointing import met, of_rule


def check(lock: Lock) -> Iterable[Finding]:
    """Report each line, as the reader met it."""
    return met(lock, of_rule(lock, "escaping-include"), "lock into one file: envdoctor lock compile IN -o FILE")
