"""The lock is not what its name or its version says.

Why it matters: installers choose their reader by the name: requirements text in a pylock.toml is an error to one and
nothing at all to another. An entry that breaks the standard is refused together with the whole lock.

What to do: rename the file to what it holds, or lock again with the tool that wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock
from envdoctor.pointing import met, of_rule


def check(lock: Lock) -> Iterable[Finding]:
    """Report the file, and each package that breaks the standard."""
    return met(lock, of_rule(lock, "wrong-format"), "rename the file to what it holds, or lock again")
