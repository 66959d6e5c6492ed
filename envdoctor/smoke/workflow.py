"""`envdoctor smoke`: choose the devices, try them out, judge what came of it."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from envdoctor import registry, snapshot
from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.facts import cache_entries
from envdoctor.facts.smoke import FRESH, IMPORT, STEPS, Attempt, Level, Smoke
from envdoctor.facts.threads import STEP, Race
from envdoctor.judge import judge
from envdoctor.locate import Wish, locate
from envdoctor.model import Outcome, Report, Target, Trial, TrialState, Unavailable
from envdoctor.policy import Policy
from envdoctor.printable import printable, redact
from envdoctor.smoke import threads
from envdoctor.smoke.devices import chosen
from envdoctor.smoke.run import Order, smoke
from envdoctor.system.descendants import uninterrupted
from envdoctor.system.forked import call
from envdoctor.system.host import Host
from envdoctor.views import devices, occupants
from envdoctor.views.devices import Devices
from envdoctor.views.occupants import Occupants

FACTS_WITHIN = 30.0
"""Seconds for reading the node before and after."""
AREA = "smoke/"
BEFORE = ("driver", "gpu_use", "variables", "interpreter", "torch_build")
"""Facts that choosing the devices takes; the others are read after a failure alone."""
SEARCH_FILES, SEARCH_BYTES, SEARCH_SECONDS = 200_000, 1 << 30, 10.0
"""How much of a cache is searched for damaged entries after a failure."""
JOB = "job"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller wants tried out."""

    devices: str | None = None
    level: Level = "quick"
    limit: float = 120.0
    """Seconds that any one step may take."""
    cache: str | None = None
    """None for a throw-away directory, `job` for the job's own, otherwise a directory."""
    threads: threads.Wanted | None = None
    """What is to race at the level of that name."""


def run(
    wish: Wish,
    asked: Asked,
    host: Host,
    tell: Callable[[Attempt], None],
    announce: Callable[[str], None] = lambda _: None,
) -> Report:
    """Smoke the target. Raises UsageError and EnvDoctorError as `check` does.

    `announce` hears what is to come where that takes long.
    """
    began = time.monotonic()
    target, policy = call("the search for the target", partial(locate, wish, host), timeout=FACTS_WITHIN)
    registry.use_plugins(policy.plugins)
    registry.known_to(policy)
    before = {*BEFORE, "fx_flag"} if asked.level == "threads" else BEFORE
    taken = snapshot.take(target, host, before, deadline=FACTS_WITHIN, meanwhile=registry.load((registry.TRIED,)))
    visible = _visible(taken)
    wanted = chosen(asked.devices, visible, _occupants(taken))
    if isinstance(wanted, Unavailable):
        return _report(target, policy, taken, Smoke(asked.level, ()), host, began, missing=wanted)
    race = None
    with _scratch(host) as scratch:
        env = _job(asked.cache, scratch, host)
        order = Order(
            target.python, wanted, asked.level, env, host.cwd, scratch, asked.limit, own_cache=asked.cache is None
        )
        if asked.level == "threads":
            tried, race = threads.race(order, asked.threads or threads.Wanted(), taken, tell, announce)
        else:
            tried = smoke(order, tell)
        if any(attempt.state == "failed" for attempt in tried.attempts):
            tried = replace(tried, damage=_damage(tried))
            taken = snapshot.take(target, host, _needed(), deadline=FACTS_WITHIN)
    return _report(target, policy, taken, tried, host, began, race=race)


def _visible(taken: snapshot.Snapshot) -> Devices | Unavailable:
    if isinstance(taken.driver, Unavailable):
        return taken.driver
    return taken.variables if isinstance(taken.variables, Unavailable) else devices.view(taken.driver, taken.variables)


def _occupants(taken: snapshot.Snapshot) -> Occupants | Unavailable:
    if isinstance(taken.driver, Unavailable):
        return taken.driver
    return taken.gpu_use if isinstance(taken.gpu_use, Unavailable) else occupants.view(taken.driver, taken.gpu_use)


def _needed() -> frozenset[str]:
    return registry.facts_for(registry.tried()) | set(BEFORE)


def _job(wish: str | None, scratch: str, host: Host) -> dict[str, str]:
    """Return the job's variables, changed as far as the wanted compile cache takes.

    PYTHONDONTWRITEBYTECODE keeps the target as it is. Precompiled headers lie outside any cache directory, a hundred
    megabytes each, so that a throw-away run does without (`_HEADER_DIR` of torch/_inductor/codecache.py, 2.13.0).
    Raises UsageError for a cache that is no directory.
    """
    env = {**host.env, "PYTHONDONTWRITEBYTECODE": "1"}
    if wish == JOB:
        return env
    if wish is None:
        cache = os.path.join(scratch, "cache")
        own = {"TRITON_CACHE_DIR": os.path.join(cache, "triton"), "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0"}
        return {**env, **own, "TORCHINDUCTOR_CACHE_DIR": cache}
    if not wish:
        raise UsageError("--cache: names no directory: it is empty")
    folder = os.path.abspath(os.path.join(host.cwd, os.path.expanduser(wish)))
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise UsageError(f"--cache: {folder} is not a directory")
    env.pop("TRITON_CACHE_DIR", None)
    return {**env, "TORCHINDUCTOR_CACHE_DIR": folder}


@contextmanager
def _scratch(host: Host) -> Iterator[str]:
    """Make a directory where the job keeps its temporary files, and remove it afterwards."""
    base = host.env.get("TMPDIR") or None
    try:
        folder = tempfile.mkdtemp(prefix="envdoctor-smoke-", dir=base)
    except OSError as error:
        where = base or tempfile.gettempdir()
        reason = error.strerror or error
        raise EnvDoctorError(f"{where}: no directory can be made here ({reason}); let TMPDIR name another") from error
    try:
        yield folder
    finally:
        with uninterrupted():
            shutil.rmtree(folder, ignore_errors=True)


def _damage(tried: Smoke) -> cache_entries.Damage | None:
    """Look for damaged entries of a cache that was there before; one just made is whole."""
    if tried.own_cache or not tried.cache:
        return None
    search = partial(
        cache_entries.damaged,
        tried.cache,
        limit_files=SEARCH_FILES,
        limit_bytes=SEARCH_BYTES,
        deadline=SEARCH_SECONDS,
    )
    try:
        found: cache_entries.Damage = call("the search of the cache", search, timeout=2 * SEARCH_SECONDS)
    except EnvDoctorError:
        return None
    return found


def _report(
    target: Target,
    policy: Policy,
    taken: snapshot.Snapshot,
    tried: Smoke,
    host: Host,
    began: float,
    missing: Unavailable | None = None,
    race: Race | None = None,
) -> Report:
    now = host.now()
    probes = [probe for probe in registry.tried() if _asked(probe.id, tried)]
    outcomes = judge(probes, taken, policy, target, now, smoke=tried, race=race or Race((), 0))
    visible = _visible(taken)
    return Report(
        target,
        taken.known("interpreter", "version"),
        host.name,
        now,
        time.monotonic() - began,
        tuple(_settled(outcome, tried, visible, missing) for outcome in outcomes),
        policy.path,
        {} if missing is None else {"smoke": f"not smoked: {missing.reason}"},
        seen=_seen(taken, tried) | (threads.seen(race, tried.devices) if race is not None else {}),
        trials=tuple(_trials(tried, outcomes)),
    )


def _asked(identity: str, tried: Smoke) -> bool:
    """Tell whether a step was asked for, at this level; the hang is no step and always judged."""
    again = () if tried.level == "threads" else (FRESH,)
    return identity.removeprefix(AREA) in {"hung", IMPORT, *STEPS[tried.level], *again}


def _settled(outcome: Outcome, tried: Smoke, visible: Devices | Unavailable, missing: Unavailable | None) -> Outcome:
    """Say which devices a step was not tried on, and why: unknown is never healthy."""
    if missing is not None:
        return Outcome(outcome.probe, skipped=_shown(f"not smoked: {missing.reason}", failed=True))
    lost = [
        (why, a.device) for a in tried.attempts if f"{AREA}{a.step}" == outcome.probe and (why := _lost(a, visible))
    ]
    if not lost or outcome.skipped is not None or outcome.crashed:
        return outcome
    devices: dict[str, list[str]] = {}
    for why, device in sorted(lost, key=lambda pair: not pair[0].failed):
        devices.setdefault(why.reason, []).append(device)
    between = " and " if outcome.probe == f"{AREA}{STEP}" else ", "  # a setting's name has commas of its own
    said = "; ".join(f"{between.join(names)}: {reason}" for reason, names in devices.items())
    return replace(outcome, skipped=_shown(said, failed=any(why.failed for why, _ in lost)))


def _lost(attempt: Attempt, visible: Devices | Unavailable) -> Unavailable | None:
    if attempt.state in ("skipped", "never-ran"):
        failed = attempt.state == "never-ran"
        shown_nothing = attempt.step == STEP and attempt.seconds  # threads ran, and proved nothing
        untried = failed and not shown_nothing
        return Unavailable(f"not tried, as {attempt.reason}" if untried else attempt.reason, failed=failed)
    if attempt.step == "device" and attempt.state == "passed":
        if isinstance(visible, Unavailable):
            return Unavailable(f"NVML cannot be asked: {visible.reason}", failed=visible.failed)
        if attempt.device not in {device.subject for device in visible.visible}:
            return Unavailable("which GPU of NVML's it is cannot be told from outside")
    return None


def _shown(reason: str, *, failed: bool) -> Unavailable:
    """Make a reason safe to show, as the judge makes all others: names of processes and words of torch come in."""
    return Unavailable(printable(redact(reason)), failed=failed)


def _seen(taken: snapshot.Snapshot, tried: Smoke) -> dict[str, str | int]:
    cache = "a throw-away cache" if tried.own_cache else f"cache {tried.cache}"
    found = {
        "torch": tried.build.get("torch") or taken.known("torch_build", "version"),
        "level": tried.level,
        "devices": ", ".join(tried.devices),
        "cache": cache if tried.devices else None,
    }
    return {key: value for key, value in found.items() if value}


def _trials(tried: Smoke, outcomes: Sequence[Outcome]) -> Iterator[Trial]:
    """Give each attempt the state that its findings give it."""
    found = {(outcome.probe, finding.subject): finding.message for outcome in outcomes for finding in outcome.findings}
    for attempt in tried.attempts:
        identity = f"{AREA}{attempt.step}"
        wrong = found.get((identity, attempt.device))
        state: TrialState = "failed" if wrong else attempt.state
        yield Trial(identity, attempt.device, state, attempt.seconds, wrong or printable(redact(told(attempt))))


def told(attempt: Attempt) -> str:
    """Say in one phrase what came of an attempt."""
    if attempt.failure is not None:
        raised = f"{attempt.failure.type}: {attempt.failure.message}".removesuffix(": ")
        how = {"raised": raised, "died": attempt.failure.message}
        return next(iter(how.get(attempt.failure.how, f"hung, {attempt.failure.message}").splitlines()), "")
    if attempt.reason or "said" in attempt.detail:
        return attempt.reason or str(attempt.detail["said"])
    figures = [f"{dtype} off by {error:.0e}" for dtype, error in attempt.errors.items()]
    figures += ["forward only"] if attempt.detail.get("backward") is False else []
    return ", ".join(figures) or str(attempt.detail.get("name", ""))
