"""What became of each try of a race of threads, and how often, setting by setting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from envdoctor import hits, knowledge, proof, signatures, stacks
from envdoctor.facts.fx_flag import is_guardable
from envdoctor.facts.smoke import Attempt
from envdoctor.facts.threads import STEP, Race, Remedy, Setting, Told, Try
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import TrialState, Unavailable

Result = Literal[
    "deadlock",
    "hung",
    "died",
    "stuck-flag",
    "fx-error",
    "error",
    "wrong",
    "not-exercised",
    "apart",
    "clean",
]
FX = "fx-trace-race"
"""Signature of the error (knowledge/signatures.toml)."""
GUARD = "--guard fx-race"
"""What stands in the advice that is of no use where the guard was tried, or has nothing to guard."""
SAID: Mapping[Result, str] = {
    "deadlock": "a deadlock",
    "hung": "no end in time",
    "died": "a crash",
    "stuck-flag": "an FX-tracing flag that stays set",
    "fx-error": "the FX error",
    "error": "another error",
    "wrong": "wrong numbers",
    "not-exercised": "not exercised",
    "apart": "clean",
    "clean": "clean",
}
WELL: frozenset[Result] = frozenset({"clean", "apart"})
OPEN: Result = "not-exercised"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one setting came to."""

    setting: Setting
    results: tuple[tuple[Try, Result], ...]
    """Every try with what it showed."""
    lost: str = ""
    """Why it was not tried, "" if it was."""
    failed: bool = False
    """True if it was asked for and could not be tried, or showed nothing, and so did all others."""

    @property
    def bad(self) -> Counter[Result]:
        """Count what went wrong."""
        return Counter(result for _, result in self.results if result not in WELL and result != OPEN)

    @property
    def state(self) -> TrialState:
        """Return what its trial is."""
        if self.bad:
            return "failed"
        if any(result in WELL for _, result in self.results):
            return "passed"
        return "never-ran" if self.failed else "skipped"

    @property
    def said(self) -> str:
        """Say in one phrase how often what came."""
        if self.lost and not self.results:
            return self.lost
        tries = len(self.results)
        counts = Counter(SAID[result] for _, result in self.results)
        parts = [f"{what} in {count}" for what, count in counts.items() if what != SAID[OPEN]]
        first = ", ".join([f"{parts[0]} of {tries} {'tries' if tries > 1 else 'try'}", *parts[1:]] if parts else [])
        unshown = counts[SAID[OPEN]]
        rest = f"{unshown} of {tries} not exercised: {self._why()}" if unshown else ""
        return "; ".join(part for part in (first, self._met(), rest, self._cache()) if part)

    def _met(self) -> str:
        if any(result == "apart" for _, result in self.results):
            return "the barrier kept every trace apart from all calls"
        if self.bad:
            return ""
        met = sum(one.told.meetings for one, result in self.results if one.told and result == "clean")
        return f"{met} call{'s' if met != 1 else ''} met another thread's trace" if met else ""

    def _why(self) -> str:
        told = [one.told for one, result in self.results if result == OPEN and one.told]
        if not any(one.calls for one in told):
            return "nothing was called"
        if any(one.traces for one in told):
            return "no call met another thread's trace"
        return "nothing was traced"

    def _cache(self) -> str:
        """Say what the counters of a warm cache said."""
        told = [one.told for one, _ in self.results if one.told]
        if self.setting.state != "warm" or not told:
            return ""
        missed = [what for one in told for what in misses(one)]
        return missed[0] if missed else "everything hit the cache"


@dataclass(frozen=True, slots=True)
class Races:
    """What is to be said of all settings."""

    race: Race
    verdicts: tuple[Verdict, ...]


def view(race: Race) -> Races:
    """Judge every try; where no setting showed anything, that is a failure to do what was asked for."""
    return Races(race, verdicts(race))


def verdicts(race: Race) -> tuple[Verdict, ...]:
    """Return what each setting came to, in order."""
    results = {setting: tuple((one, result(one, race.remedy)) for one in race.of(setting)) for setting in race.settings}
    shown = any(what != OPEN for tried in results.values() for _, what in tried)
    return tuple(_verdict(setting, tried, race, shown=shown) for setting, tried in results.items())


def _verdict(setting: Setting, tried: tuple[tuple[Try, Result], ...], race: Race, *, shown: bool) -> Verdict:
    lost, failed = race.lost.get(setting, ("", False) if tried else ("it was not reached", True))
    return Verdict(setting, tried, lost, failed or not shown)


def result(one: Try, remedy: Remedy) -> Result:
    """Say what a try showed. Without proof that a call met a trace it is not exercised, never clean."""
    if one.failure is not None or one.told is None:
        return _broken(one)
    errors = [thread for thread in one.told.threads if thread.error]
    if stuck(one.told):
        return "stuck-flag"
    if any(is_fx(thread.error) for thread in errors):
        return "fx-error"
    if errors or one.told.again:
        return "error"
    if off(one.told) is not None:
        return "wrong"
    if one.told.meetings:
        return "clean"
    return "apart" if remedy == "barrier" and one.told.traces else "not-exercised"


def _broken(one: Try) -> Result:
    if one.failure is None or one.failure.how == "raised":
        return "error"
    if one.failure.how == "died":
        return "died"
    return "deadlock" if stacks.deadlock(one.failure.stacks) else "hung"


def stuck(told: Told) -> bool:
    """Tell whether the flag stayed set: torch says so, or the error comes with nobody else at work."""
    return told.flag_left or any(is_fx(error) for error in told.again)


def is_fx(error: str) -> bool:
    """Recognise the error that a compiled call raises while another thread traces."""
    match = signatures.first(error)
    return match is not None and match.id == FX


def off(told: Told) -> str | None:
    """Say how far the figures are off, if they are farther than rounding."""
    attempt = Attempt("", STEP, "passed", detail={"errors": told.figures})
    found = next(proof.judged(attempt), None)
    return found.message.partition(f"{STEP} ")[2].replace(" is wrong: ", " ") if found is not None else None


def misses(told: Told) -> Sequence[str]:
    """Say what was not found in the cache."""
    return [*hits.missed(hits.GRAPHS, told.counters), *hits.missed(hits.AUTOGRAD, told.counters)]


def cures(error: str) -> tuple[str, ...]:
    """Return what cures a known error."""
    match = signatures.first(error)
    return match.cure if match is not None else ()


def fx_cures(build: TorchBuild | Unavailable, *, guard: bool = True) -> tuple[str, ...]:
    """Return what cures the FX error, where none was raised too; not the guard where it is of no use or not tested."""
    steps = next(row["cure"] for row in knowledge.rows("signatures") if row["id"] == FX)
    fits = guard and (isinstance(build, Unavailable) or is_guardable(build))
    first, *rest = [step for step in steps if fits or GUARD not in step]
    return (first.removeprefix("or "), *rest)
