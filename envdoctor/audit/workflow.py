"""Hold the rules for locks against lock files, each for the environments that it is meant for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from envdoctor import locks, registry, snapshot
from envdoctor.audit import configured, online, places
from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.judge import judge
from envdoctor.locate import Wish, configuration, locate
from envdoctor.locks.environments import LockEnvironment, declared, of_target, stated
from envdoctor.model import LockedPackage, Outcome, Report, Target, Unavailable
from envdoctor.policy import Policy
from envdoctor.snapshot import Snapshot
from envdoctor.system.forked import call
from envdoctor.system.host import Host
from envdoctor.views import lock_metadata, lock_online
from envdoctor.views.lock_online import DryRun, LockOnline
from envdoctor.views.lock_targets import NONE_STATED, LockTargets

DEADLINE = 60.0
"""Seconds for one lock."""
OF_LOCK = ("lock", "lock_scan", "lock_source")
OF_TARGET = ("interpreter", "distributions", "driver")
NO_DRIVER = Unavailable("no driver known: name a --target, whose node has one")
NO_METADATA = Unavailable("no metadata at hand: name a --target that has the locked releases, or a --wheelhouse")


Resolve = Callable[[Sequence[LockedPackage], LockEnvironment, str, Host, float], DryRun | None]
"""Pins, the environment, the lock's directory, the host, seconds; None where there is nobody to ask."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller of `lock audit` wants."""

    target: str | None = None
    """An environment whose interpreter, releases and driver count."""
    python: str | None = None
    platform: str | None = None
    wheelhouse: str | None = None
    online: bool = False
    groups: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    config: str | None = None
    deadline: float = DEADLINE
    resolve: Resolve | None = None
    """Who tells online whether the pins are all that is needed, where no metadata is at hand."""


@dataclass(frozen=True, slots=True)
class _Given:
    """What is the same for all locks."""

    policy: Policy
    target: Target
    taken: Snapshot
    values: Mapping[str, Any]


def audit(paths: Sequence[str], asked: Asked, host: Host) -> Report:
    """Audit locks, one after the other. Raises UsageError (not a lock, a target that is none) and EnvDoctorError."""
    began = time.monotonic()
    given = _given(asked, host)
    registry.use_plugins(given.policy.plugins)
    registry.known_to(given.policy)
    now, pins = host.now(), 0
    outcomes: list[tuple[str, tuple[Outcome, ...]]] = []
    failed: dict[str, str] = {}
    for path in dict.fromkeys(paths):
        taken = _taken(path, given, host, asked.deadline)
        targets = given.values.get("lock_targets") or _declared(taken)
        answered = _online(taken, asked, host)
        if isinstance(answered, LockOnline) and isinstance(given.values["lock_metadata"], Unavailable):
            answered = replace(answered, dry_run=_dry_run(taken, targets, asked, host))
        values = {**given.values, "lock_targets": targets, "lock_online": answered}
        values |= _hosts(taken, given.policy, host, asked.deadline)
        target = replace(given.target, lock=_absolute(path, host))
        judged = judge(registry.audited(), taken, given.policy, target, now, **values)
        if isinstance(answered, LockOnline) and not isinstance(taken.lock, Unavailable):
            judged = online.admitted(judged, taken.lock, answered, given.policy, now)
        wanted = places.asked(judged)
        found = call("the places of findings", partial(places.look, wanted), timeout=asked.deadline) if wanted else {}
        judged = places.placed(judged, found, {target.lock or "": path, "": path})
        outcomes.append((path, places.filled(judged, _command(taken), path)))
        failed |= taken.failed()
        pins += sum(1 for package in taken.known("lock", "packages") or () if package.name)
    seen: dict[str, str | int] = {"locks": ", ".join(path for path, _ in outcomes), "pins": pins}
    seen |= _judged_for(given)
    return Report(
        None, None, host.name, now, time.monotonic() - began, _merged(outcomes), given.policy.path, failed, seen
    )


def _given(asked: Asked, host: Host) -> _Given:
    if asked.target is not None and (asked.python or asked.platform):
        raise UsageError("--target says what Python and platform are; give either it, or --python and --platform")
    if asked.target is None:
        policy = call("the configuration", partial(configuration, asked.config, host), timeout=asked.deadline)
        target = Target("", "", groups=asked.groups, extras=asked.extras)
        values: dict[str, Any] = {"lock_metadata": _metadata(asked, host) or NO_METADATA}
        if asked.python or asked.platform:
            values["lock_targets"] = LockTargets((stated(asked.python, asked.platform),))
        return _Given(policy, target, Snapshot(driver=NO_DRIVER), values)
    wish = Wish(asked.target, os.devnull, asked.config, asked.groups, asked.extras)
    target, policy = call("the search for the target", partial(locate, wish, host), timeout=asked.deadline)
    taken = snapshot.take(target, host, OF_TARGET, deadline=asked.deadline, meanwhile=snapshot.load())
    values = _of_target(taken, target)
    return _Given(policy, target, taken, {**values, "lock_metadata": _metadata(asked, host) or values["lock_metadata"]})


def _of_target(taken: Snapshot, target: Target) -> dict[str, Any]:
    """Return what a target gives: its environment, and the metadata of what it has."""
    interpreter, distributions = taken.interpreter, taken.distributions
    metadata = distributions if isinstance(distributions, Unavailable) else lock_metadata.view(distributions)
    if isinstance(interpreter, Unavailable):
        return {"lock_targets": interpreter, "lock_metadata": metadata}
    name = f"Python {interpreter.version or '?'} of {target.prefix}"
    free = interpreter.free_threaded
    own = of_target(interpreter.markers, interpreter.libc, free_threaded=free, name=name)
    return {"lock_targets": LockTargets((own,), own=True), "lock_metadata": metadata}


def _metadata(asked: Asked, host: Host) -> Any:  # noqa: ANN401 - LockMetadata, by way of a child
    if asked.wheelhouse is None:
        return None
    from envdoctor.audit import wheelhouse  # zipfile and email are of no use to other audits

    folder = os.path.join(host.cwd, os.path.expanduser(asked.wheelhouse))
    return call("the wheelhouse", partial(wheelhouse.read, folder), timeout=asked.deadline)


def _taken(path: str, given: _Given, host: Host, deadline: float) -> Snapshot:
    """Read one lock, and keep what is known of the target."""
    target = replace(given.target, lock=_absolute(path, host))
    taken = snapshot.take(target, host, OF_LOCK, deadline=deadline, meanwhile=registry.load((registry.AUDITED,)))
    return replace(given.taken, **{name: getattr(taken, name) for name in OF_LOCK})


def _command(taken: Snapshot) -> str:
    return "" if isinstance(taken.lock, Unavailable) else taken.lock.header.command


def _absolute(path: str, host: Host) -> str:
    return os.path.abspath(os.path.join(host.cwd, os.path.expanduser(path)))


def _declared(taken: Snapshot) -> LockTargets | Unavailable:
    """Return the environments that the lock itself names."""
    if isinstance(taken.lock, Unavailable):
        return taken.lock
    own = declared(taken.lock)
    return LockTargets(own, stated=False) if own else Unavailable(NONE_STATED)


def _online(taken: Snapshot, asked: Asked, host: Host) -> LockOnline | Unavailable:
    """Ask the index, if that is wanted."""
    if isinstance(taken.lock, Unavailable):
        return taken.lock
    return online.ask(taken.lock, host, asked.deadline) if asked.online else lock_online.view()


def _dry_run(taken: Snapshot, targets: LockTargets | Unavailable, asked: Asked, host: Host) -> DryRun | None:
    """Ask for the first environment whether a lock without a graph is complete; those of others say it themselves."""
    lock = taken.lock
    if asked.resolve is None or isinstance(lock, Unavailable) or lock.format not in ("requirements", "pipfile"):
        return None
    if isinstance(targets, Unavailable):
        return None
    environment = targets.environments[0]
    wanted = locks.select(lock, environment.markers).wanted.values()
    pins = [package for package in wanted if package.source == "index" and package.version]
    return asked.resolve(pins, environment, os.path.dirname(os.path.abspath(lock.path)), host, asked.deadline)


def _hosts(taken: Snapshot, policy: Policy, host: Host, deadline: float) -> dict[str, Any]:
    """Return the hosts that pip or uv is configured for, where the policy names none."""
    if policy.hosts or isinstance(taken.lock, Unavailable):
        return {}
    try:
        run = partial(configured.hosts, taken.lock, host)
        return {"lock_hosts": call("pip's and uv's configuration", run, timeout=deadline)}
    except EnvDoctorError as error:
        return {"lock_hosts": Unavailable(str(error), failed=True)}


def _judged_for(given: _Given) -> dict[str, str]:
    targets = given.values.get("lock_targets")
    return {"judged for": targets.environments[0].name} if isinstance(targets, LockTargets) else {}


def _merged(outcomes: Sequence[tuple[str, tuple[Outcome, ...]]]) -> tuple[Outcome, ...]:
    """Put the outcomes of several locks together, rule by rule: a rule that was skipped for one is skipped."""
    rules: dict[str, list[tuple[str, Outcome]]] = {}
    for path, found in outcomes:
        for outcome in found:
            rules.setdefault(outcome.probe, []).append((path, outcome))
    return tuple(_one(probe, found) for probe, found in rules.items())


def _one(probe: str, found: Sequence[tuple[str, Outcome]]) -> Outcome:
    skipped = [(path, outcome.skipped) for path, outcome in found if outcome.skipped]
    crashed = [f"{path}: {outcome.crashed}" for path, outcome in found if outcome.crashed]
    first = skipped[0][1] if skipped else None
    if first is not None and len(skipped) < len(found):
        first = replace(first, reason="; ".join(f"{path}: {reason.reason}" for path, reason in skipped))
    return Outcome(
        probe,
        tuple(finding for _, outcome in found for finding in outcome.findings),
        tuple(finding for _, outcome in found for finding in outcome.muted),
        first,
        "; ".join(crashed) or None,
    )
