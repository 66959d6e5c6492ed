"""A step did not come to its end in time.

Why it matters: a training would hang in the same place, holding its GPUs. Workers that were forked from a process with
threads, a lock that two threads take in different order, a dead file server below the cache and a wedged driver look
like this.

What to do: read where it was stuck. The process and all its descendants have been ended. If the machine is merely slow,
give it more time with --timeout.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from shlex import quote

from envdoctor.facts.smoke import FRESH, Attempt, Failure, Smoke
from envdoctor.facts.variables import Variables
from envdoctor.model import Finding, Severity, Target, Unavailable
from envdoctor.views.diagnoses import stuck_at

START = "TORCHINDUCTOR_WORKER_START"
COMPILING = frozenset({"compile", "flex-attention", "half", "graphs", "recompile", FRESH})
"""Steps in which compile workers are at work."""
LINES = 100
"""Lines of the stacks that are kept as evidence."""


def check(smoke: Smoke, variables: Variables | Unavailable, target: Target) -> Iterable[Finding]:
    """Say where each hang was."""
    start = "" if isinstance(variables, Unavailable) else variables.get(START)
    for attempt in smoke.attempts:
        if attempt.failure is not None and attempt.failure.how == "hung":
            yield _finding(attempt, attempt.failure, tuple(_cure(attempt, smoke, start, target)))


def _finding(attempt: Attempt, failure: Failure, cure: tuple[str, ...]) -> Finding:
    place = stuck_at(failure.stacks)
    count = len(failure.left)
    which = "a process cannot be killed: it waits" if count == 1 else f"{count} processes cannot be killed: they wait"
    left = f"; {which} in the kernel" if count else ""
    return Finding(
        Severity.ERROR,
        attempt.device,
        f"{attempt.named} hung: {failure.message}{f', at {place}' if place else ', and it told no stacks'}{left}",
        {
            "step": attempt.step,
            "stacks": failure.stacks.splitlines()[:LINES],
            "printed": failure.printed.splitlines()[-LINES:],
            "left": list(failure.left),
        },
        cure,
    )


def _cure(attempt: Attempt, smoke: Smoke, start: str, target: Target) -> Iterator[str]:
    if start == "fork":
        yield f"unset {START}"
    if attempt.step in COMPILING:
        yield "export TORCHINDUCTOR_COMPILE_THREADS=1"
    level = "" if smoke.level == "quick" else f" --level {smoke.level}"
    yield f"envdoctor smoke --target {quote(target.prefix)}{level}{smoke.chosen} --timeout {5 * smoke.limit:g}"
