"""Renamed remains of a package that pip could not remove lie in site-packages.

Why it matters: pip renames a package aside with a tilde (`~orch`) while it uninstalls, and forgets it when it is
interrupted. The remains take space, gigabytes for torch, and tools that trust importlib.metadata count them as
installed.

What to do: make sure that no process uses them (open files keep the name), then delete them; if the package they came
from is damaged, install it again from the lock.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable

from envdoctor.facts.owners import Owners
from envdoctor.model import Finding, Severity


def check(owners: Owners) -> Iterable[Finding]:
    """Report all remains of one site-packages directory together."""
    folders: dict[str, list[tuple[str, int]]] = {}
    for leftover in owners.leftovers:
        folders.setdefault(os.path.dirname(leftover.path), []).append((leftover.path, leftover.size))
    for folder, found in folders.items():
        total = sum(size for _, size in found)
        yield Finding(
            Severity.WARNING,
            folder,
            f"{len(found)} leftover{'s' if len(found) > 1 else ''} of interrupted uninstalls, {total / 1e6:.1f} MB",
            {"paths": [path for path, _ in found[:50]], "count": len(found), "bytes": total},
            ("make sure that no process uses them", f"rm -r {shlex.quote(folder)}/~*"),
        )
