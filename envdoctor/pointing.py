"""Findings about a place in a lock: file, line, and the words that are wrong there.

The column is found later, by looking for the words in the file; a probe touches no file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from envdoctor.model import Finding, Lock, LockedPackage, LockOption, LockProblem, Severity

COMPILE = "envdoctor lock compile IN -o FILE"
LOCKING = {"uv": "uv lock", "poetry": "poetry lock", "pdm": "pdm lock", "pipfile": "pipenv lock"}
"""What makes a lock of a format that COMPILE does not write."""
SHOWN = 20
"""Further lines that a finding lists."""

T = TypeVar("T")
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
    steps = tuple(step.replace(COMPILE, LOCKING.get(lock.format, COMPILE)) for step in remedy)
    return Finding(severity, subject or named or file, message, {**placed, **evidence}, steps)


def many(found: Sequence[LockedPackage | LockProblem | LockOption]) -> dict[str, Any]:
    """Return evidence of many places: how many, and the first lines; `file:line` for those of an include."""
    lines = [f"{item.file}:{item.line}" if item.file else item.line for item in found[:SHOWN]]
    return {"count": len(found), "lines": lines}


def met(lock: Lock, problems: Iterable[LockProblem], remedy: str, *, by: str = "") -> Iterator[Finding]:
    """Yield what a reader met: one finding a package, or a line that is about none; or one for each value of `by`."""
    groups: dict[object, list[LockProblem]] = {}
    for problem in problems:
        own = (problem.file, getattr(problem, by)) if by else problem.subject or (problem.file, problem.line)
        groups.setdefault(own, []).append(problem)
    for found in groups.values():
        first = found[0]
        severity = Severity.WARNING if all(problem.mild for problem in found) else Severity.ERROR
        more = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
        counted = many(found) if more else {}
        said, subject = first.message + more, first.subject
        yield fault(severity, lock, first, said, text=first.text, subject=subject, remedy=(remedy,), **counted)


def of_rule(lock: Lock, rule: str) -> list[LockProblem]:
    """Return what the reader met that breaks a rule."""
    return [problem for problem in lock.problems if problem.rule == rule]


def once(found: Iterable[T], name: Callable[[T], object]) -> list[T]:
    """Return the first of all that go by one name, in order."""
    first: dict[object, T] = {}
    for item in found:
        first.setdefault(name(item), item)
    return list(first.values())


def first_of_each(packages: Iterable[LockedPackage]) -> tuple[LockedPackage, ...]:
    """Return the first pin of each name: one finding a name, where its pins share the fault."""
    return tuple(once(packages, lambda package: package.name))
