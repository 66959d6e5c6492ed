"""Lines of the lock could not be understood.

Why it matters: what stands there is unknown, so a package may be called foreign that the lock means to pin, and one
that it pins may go unmissed. Installers refuse such a line, or read it each in its own way.

What to do: mend the lines, or lock again with the tool that wrote the file.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock, LockProblem, Severity

SHOWN = 50


def check(lock: Lock) -> Iterable[Finding]:
    """Report one finding for each file: the lock, and what it includes."""
    files: dict[str, list[LockProblem]] = {}
    for problem in lock.problems:
        files.setdefault(problem.file or lock.path, []).append(problem)
    for file, problems in files.items():
        first = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        yield Finding(
            Severity.WARNING,
            file,
            f"{_place(file, first)}: {first.message}{more}",
            {
                "file": file,
                "line": first.line,
                "problems": [f"{_place(file, problem)}: {problem.message}" for problem in problems[:SHOWN]],
                "count": len(problems),
            },
            (f"mend {file}, or lock again",),
        )


def _place(file: str, problem: LockProblem) -> str:
    """Return `name:line`, or the name where no line is known."""
    name = file.rpartition("/")[2]
    return f"{name}:{problem.line}" if problem.line else name
