"""Threads that compile and train at once in one process break each other.

Why it matters: until torch 2.13 the flag that says "FX is tracing" belongs to the whole process, and a compiled call of
one thread raises while another one traces. With flex_attention and gradients every process traces, however warm its
cache is. Several threads on one GPU can also wait for each other for ever: dynamo's compile lock against autograd's
thread. Tried out with threads that run free, in throw-away caches that are cold, warm for the first device, or warm.

What to do: follow the finding. A torch from 2.14 has a flag for each thread, though concurrent traces stay unsupported;
until then run the job under the guard, or one process a GPU, or the first forward and backward of each thread one after
the other with all of them held at a barrier until the last is done. `--remedy` tries on this node whether one helps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from shlex import quote
from typing import Any

from envdoctor import stacks
from envdoctor.facts.threads import STEP, Race, Try
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Severity, Target, Unavailable
from envdoctor.views.diagnoses import Diagnoses, stuck_at
from envdoctor.views.races import Races, Result, Verdict, cures, fx_cures, misses, off

TRY = "smoke --level threads"
"""What stands in the advice to do what has been done."""
LINES = 100
"""Lines of stacks, and of a deadlock's two threads, that are kept as evidence."""
FULL = 3
"""Tries of a setting that are told with their errors, times and stacks; of the others the figures."""
HEAD = 300
"""Characters of an error that a sentence quotes."""
DEADLOCK = (
    "let the threads of one GPU make their first forward and backward one after the other, before anyone goes on",
    "or use one thread, or one process, a GPU",
    "or warm the cache before, forward and backward: what is found there need not be compiled in the backward pass",
)


def check(
    races: Races, diagnoses: Diagnoses, torch_build: TorchBuild | Unavailable, target: Target
) -> Iterable[Finding]:
    """Report each setting in which something went wrong, and the filling of the cache if that failed."""
    yield from diagnoses.of(STEP)
    for verdict in races.verdicts:
        if verdict.bad:
            again = f"envdoctor smoke --target {quote(target.prefix)}{diagnoses.smoke.chosen}"
            yield _finding(verdict, races.race, tuple(dict.fromkeys(_cure(verdict, races.race, torch_build, again))))


def _finding(verdict: Verdict, race: Race, cure: tuple[str, ...]) -> Finding:
    under = "" if race.remedy == "none" else f" (with the remedy {race.remedy})"
    what = next(iter(_details(verdict)), "")
    return Finding(
        Severity.ERROR,
        verdict.setting.name,
        f"{verdict.setting.name}{under}: {verdict.said}{f'; {what}' if what else ''}",
        {
            "tries": len(verdict.results),
            "results": dict(verdict.bad),
            "remedy": race.remedy,
            "flag": race.flag or None,
            "each": [_told(one, result, full=at < FULL) for at, (one, result) in enumerate(_worst_first(verdict))],
        },
        cure,
    )


def _worst_first(verdict: Verdict) -> list[tuple[Try, Result]]:
    return sorted(verdict.results, key=lambda pair: pair[1] not in verdict.bad)


def _details(verdict: Verdict) -> Iterator[str]:
    """Say what is behind the results that do not speak for themselves."""
    for one, result in verdict.results:
        if result == "deadlock":
            yield "dynamo's compile lock against a backward graph that autograd's thread compiles late"
        elif result == "hung" and one.failure is not None:
            place = stuck_at(one.failure.stacks)
            yield f"{one.failure.message}, {f'at {place}' if place else 'and it told no stacks'}"
        elif result == "died" and one.failure is not None:
            yield one.failure.message
        elif result == "error":
            yield _error(one)
        elif result == "wrong" and one.told is not None:
            yield off(one.told) or ""


def _error(one: Try) -> str:
    """Return the first line of the first error of a try."""
    if one.told is not None:
        errors = [*(thread.error for thread in one.told.threads if thread.error), *one.told.again]
    else:
        errors = [*one.failure.causes, one.failure.message] if one.failure is not None else []
    return next(iter("".join(errors[:1]).splitlines()), "")[:HEAD]


def _cure(verdict: Verdict, race: Race, build: TorchBuild | Unavailable, again: str) -> Iterator[str]:
    """Yield the steps against what went wrong; `again` is the command that smokes the same devices."""
    for result in verdict.bad:
        if result in ("fx-error", "stuck-flag"):
            yield from _fx_cures(race, build)
            yield from (f"{again} --level threads --remedy guard",) if race.remedy == "none" else ()
        elif result == "deadlock":
            yield from DEADLOCK
        elif result == "hung":
            yield f"{again} --level threads --timeout {5 * race.limit:g}"
        elif result == "error":
            yield from cures(next(_error(one) for one, what in verdict.results if what == "error"))
        if result in ("error", "died", "wrong"):
            yield again


def _fx_cures(race: Race, build: TorchBuild | Unavailable) -> Iterable[str]:
    """Return what cures the FX error, the guard as far as it may; it has been tried out just now."""
    useless = race.remedy == "guard" or race.flag in ("thread-local", "absent")
    return (step for step in fx_cures(build, guard=not useless) if TRY not in step)


def _told(one: Try, result: Result, *, full: bool) -> dict[str, Any]:
    """Return the evidence of one try."""
    found: dict[str, Any] = {"number": one.number, "start": one.start, "result": result, "seconds": one.seconds}
    if one.told is not None:
        found |= {
            "threads": [
                {"device": thread.device, "steps": thread.steps, "error": thread.error[:200]}
                for thread in one.told.threads[:LINES]
            ],
            "calls": one.told.calls,
            "traces": one.told.traces,
            "meetings": one.told.meetings,
            "flag_shared": one.told.flag_shared,
            "flag_left": one.told.flag_left,
            "again": list(one.told.again)[:FULL],
            "figures": {dtype: str(figure) for dtype, figure in one.told.figures.items()},
            "counters": {group: dict(counted) for group, counted in one.told.counters.items()},
            "missed": list(misses(one.told)),
        } | (_shortened(one.told.evidence) if full else {})
    if one.failure is not None:
        found |= {"failure": one.failure.message, "left": list(one.failure.left)}
        found |= {"printed": one.failure.printed.splitlines()[-LINES:], **_stacks(one.failure.stacks)} if full else {}
    return found


def _shortened(evidence: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value[:FULL] if key == "errors" else value for key, value in evidence.items()}


def _stacks(text: str) -> dict[str, Any]:
    """Return the two threads of a deadlock, and the stacks of all."""
    found = stacks.deadlock(text)
    two = {"holder": found.holder, "waiter": found.waiter} if found else {}
    return {name: [str(frame) for frame in frames[:LINES]] for name, frames in two.items()} | {
        "stacks": text.splitlines()[:LINES]
    }
