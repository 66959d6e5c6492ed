"""Findings about a place in a lock: file, line, and the words that are wrong there.

The column is found later, by looking for the words in the file; a probe touches no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from envdoctor.model import Finding, Lock, LockedPackage, LockOption, LockProblem, Severity

SHOWN = 20
"""Further lines that a finding lists."""

Where = LockedPackage | LockProblem | LockOption | None


def fault(
    severity: Severity,
    lock: Lock,
    where: Where,
    message: str,
    *,
    text: str = "",
    subject: str = "",
    remedy: tuple[str, ...] = (),
    **evidence: Any,  # noqa: ANN401 - JSON values
) -> Finding:
    """Return a finding about one place; without a subject it is about the package there, or the lock's file.

    Without `text` the words are those of the problem or option.
    """
    file, line = (where.file or lock.path, where.line) if where is not None else (lock.path, 0)
    named = where.name if isinstance(where, LockedPackage) else ""
    words = text or ("" if where is None or isinstance(where, LockedPackage) else where.text)
    placed = {"file": file, **({"line": line} if line else {}), **({"text": words} if words else {})}
    return Finding(severity, subject or named or file, message, {**placed, **evidence}, remedy)


def many(found: Sequence[LockedPackage | LockProblem | LockOption]) -> dict[str, Any]:
    """Return evidence of many places: how many, and the first lines; `file:line` for those of an include."""
    lines = [f"{item.file}:{item.line}" if item.file else item.line for item in found[:SHOWN]]
    return {"count": len(found), "lines": lines}


def first_of_each(packages: Iterable[LockedPackage]) -> tuple[LockedPackage, ...]:
    """Return the first pin of each name: one finding a name, where its pins share the fault."""
    found: dict[str, LockedPackage] = {}
    for package in packages:
        found.setdefault(package.name, package)
    return tuple(found.values())
