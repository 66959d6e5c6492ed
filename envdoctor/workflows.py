"""One function a command."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, cast

from envdoctor import knowledge
from envdoctor.errors import UsageError
from envdoctor.jobs import environment
from envdoctor.locate import Wish, configuration, seek
from envdoctor.marking import remember
from envdoctor.model import Lock, Report, Target
from envdoctor.policy import Policy
from envdoctor.printable import printable
from envdoctor.system.forked import call
from envdoctor.system.host import Host, LocalHost
from envdoctor.system.reading import regular

if TYPE_CHECKING:
    from envdoctor.recorded import Recorded
    from envdoctor.registry import Probe
    from envdoctor.snapshot import Snapshot

__all__ = ["LocalHost", "Selection", "Wish", "check", "report"]

DEADLINE = 30.0
"""Seconds that a whole check may take. A warm one takes about 0.3; a dead file server takes for ever."""
INCLUDES = ("--requirement", "--constraint")
"""Options by which a lock includes files."""
DEEP_DEADLINE = 600.0
"""The same for a deep one, which reads every byte."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which probes to run: ids or prefixes."""

    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    plugins: bool = True
    """False to leave out those of plug-ins, whatever the configuration says."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Where and when what is judged was observed."""

    host: str
    moment: datetime
    began: float
    """When this run began, monotonic."""


def within(deadline: float | None, *, deep: bool) -> float:
    """Return the deadline, its default filled in."""
    return deadline if deadline is not None else DEEP_DEADLINE if deep else DEADLINE


def root_of(folder: str | None) -> str:
    """Return --root as an absolute path, "" for none or `/`. Raises UsageError if it is no directory."""
    if folder is None:
        return ""
    if not os.path.isdir(folder):
        raise UsageError(f"--root: {folder} is not a directory")
    return os.path.abspath(folder).rstrip("/")


def one_log(named: Sequence[str]) -> str | None:
    """Return --log, None if there is none. Raises UsageError for several, and for ""."""
    if len(named) > 1:
        raise UsageError(f"--log: one log at a time, not {len(named)}; concatenate them, or check once for each")
    if named and not named[0]:
        raise UsageError("--log: the name of the log is empty")
    return named[0] if named else None


def check(
    wish: Wish,
    selection: Selection,
    host: Host,
    *,
    deadline: float = DEADLINE,
    keep: bool = True,
    reuse: timedelta | None = None,
) -> Report:
    """Gather what the selected probes need and judge it; with `keep`, raise the marks of the compile caches seen.

    With `reuse`, a verdict no older than that, or one that another process is about to reach, is taken instead.
    Raises UsageError (nothing to check, no lock where one was named, not a lock) and EnvDoctorError.
    """
    began = time.monotonic()
    if reuse is None:
        target, policy, host = call("the search for the target", partial(seek, wish, host), timeout=deadline)
        return _checked(target, policy, selection, host, began, deadline, keep=keep)[1]
    from envdoctor.reuse import shared

    find = partial(_identified, wish, selection, host, reuse)
    target, policy, there, key, found = call("the search for the target", find, timeout=deadline)
    if found is not None:
        return cast("Report", found)

    def fresh() -> tuple[Report, list[str]]:
        taken, judged = _checked(target, policy, selection, there, time.monotonic(), deadline, keep=keep)
        return judged, _depends(taken)

    return shared(key, reuse, deadline, host, fresh)


def _identified(
    wish: Wish, selection: Selection, host: Host, age: timedelta
) -> tuple[Target, Policy, Host, str, Report | None]:
    from envdoctor.reuse import key_of, look

    target, policy, there = seek(wish, host)
    key = key_of(target, policy, ["+", *selection.select, "-", *selection.ignore], there)
    return target, policy, there, key, look(key, age, host)


def _checked(
    target: Target, policy: Policy, selection: Selection, host: Host, began: float, deadline: float, *, keep: bool
) -> tuple[Snapshot, Report]:
    """Modules are imported while children read: on two cores the imports then cost next to nothing."""
    from envdoctor import registry, snapshot

    registry.use_plugins(policy.plugins and selection.plugins)
    everything = not (selection.select or selection.ignore)
    named = {"job_log"} if target.log is not None else set()  # a log confirms what any probe finds
    probes = partial(_select, selection, logged=target.log is not None)
    wanted = snapshot.FACTS.keys() if everything else registry.facts_for(probes()) | named
    left = deadline - (time.monotonic() - began)
    taken = snapshot.take(target, host, wanted, deadline=left, meanwhile=chain(snapshot.load(), registry.load()))
    registry.known_to(policy)
    judged = report(target, policy, taken, probes(), host, began)
    said = remember(taken, also=environment(taken, target, host)) if keep else None
    return taken, replace(judged, seen={**judged.seen, "state": said}) if said else judged


def _depends(taken: Snapshot) -> list[str]:
    """Return paths that a snapshot tells of: where modules are imported from, what a lock includes and came from."""
    entries = taken.known("search_path", "entries") or ()
    lock, inputs = taken.lock, taken.known("lock_source", "inputs") or ()
    found = {*(entry.path for entry in entries), *(item.path for item in inputs)}
    if isinstance(lock, Lock):
        folder = os.path.dirname(lock.path)
        found |= {os.path.join(folder, name) for name in ("pyproject.toml", "Pipfile")}
        files = [[item.file for item in part] for part in (lock.packages, lock.options, lock.problems)]
        found |= {file for part in files for file in part if file}
        found |= {os.path.join(folder, option.value) for option in lock.options if option.name in INCLUDES}
    return sorted(found)


def observe(wish: Wish, host: Host, facts: Iterable[str] | None = None, *, deadline: float = DEADLINE) -> Recorded:
    """Gather facts (all, if none are named), and judge none. Raises UsageError and EnvDoctorError as `check` does."""
    began = time.monotonic()
    target, policy, host = call("the search for the target", partial(seek, wish, host), timeout=deadline)
    from envdoctor import recorded, snapshot

    left = deadline - (time.monotonic() - began)
    wanted = snapshot.FACTS if facts is None else facts
    taken = snapshot.take(target, host, wanted, deadline=left, meanwhile=snapshot.load())
    return recorded.record(taken, target, policy, host.name, host.now())


def replay(path: str, config: str | None, selection: Selection, host: Host, *, deadline: float = DEADLINE) -> Report:
    """Judge a recorded snapshot as of the time it was taken; by its own configuration, unless another is named.

    `-` is standard input. Raises UsageError if it is no snapshot.
    """
    began = time.monotonic()
    found = recording(path, host, deadline=deadline)
    head = found.head
    policy = (
        head.policy
        if config is None
        else call("the configuration", partial(configuration, config, host), timeout=deadline)
    )
    judged = judge_recorded(found, policy, selection, began)
    source = "from standard input" if path == "-" else path
    said = f"{source}, taken on {printable(head.host)} by envdoctor {printable(head.envdoctor)}"
    return replace(judged, seen={**judged.seen, "snapshot": said})


def judge_recorded(found: Recorded, policy: Policy, selection: Selection, began: float) -> Report:
    """Judge a snapshot by a configuration, as of the time it was taken; `began` is when this run began, monotonic."""
    from envdoctor import registry

    head = found.head
    registry.use_plugins(policy.plugins and selection.plugins)
    registry.known_to(policy)
    probes = _select(selection, logged=head.target.log is not None)
    return _judged(head.target, policy, found.facts, probes, Scene(printable(head.host), head.taken_at, began))


def recording(path: str, host: Host, *, deadline: float = DEADLINE) -> Recorded:
    """Read a recorded snapshot; `-` is standard input. Raises UsageError if it is none."""
    from envdoctor import recorded

    read = partial(_read_snapshot, path, host)
    data = _piped() if path == "-" else call("the snapshot", read, timeout=deadline)
    return recorded.parse(data, path)


def _read_snapshot(path: str, host: Host) -> bytes:
    from envdoctor.recorded import LIMIT

    try:
        return regular(os.path.join(host.cwd, os.path.expanduser(path)), LIMIT)
    except ValueError as error:
        raise UsageError(f"--snapshot: {path}: {error}") from error
    except OSError as error:
        raise UsageError(f"--snapshot: {path}: {error.strerror or error}") from error


def _piped() -> bytes:
    from envdoctor.recorded import LIMIT

    data = sys.stdin.buffer.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise UsageError(f"--snapshot: standard input holds more than any snapshot should ({LIMIT:,} bytes)")
    return data


def _select(selection: Selection, *, logged: bool) -> tuple[Probe, ...]:
    """Return the probes to run. A log that was named is judged whatever is selected, unless that is ignored."""
    from envdoctor import registry
    from envdoctor.confirm import UNEXPLAINED

    also = (UNEXPLAINED,) if logged and selection.select else ()
    return registry.select((*selection.select, *also), selection.ignore)


def report(
    target: Target, policy: Policy, taken: Snapshot, probes: Sequence[Probe], host: Host, began: float
) -> Report:
    """Judge a snapshot that was just taken; `began` is the monotonic time at which the work was begun."""
    return _judged(target, policy, taken, probes, Scene(host.name, host.now(), began))


def _judged(target: Target, policy: Policy, taken: Snapshot, probes: Sequence[Probe], scene: Scene) -> Report:
    from envdoctor.judge import judge

    outcomes = judge(probes, taken, policy, target, scene.moment)
    return Report(
        target,
        taken.known("interpreter", "version"),
        scene.host,
        scene.moment,
        time.monotonic() - scene.began,
        outcomes,
        policy.path,
        taken.failed(),
        _seen(taken, scene.moment, probes, target),
    )


def _seen(taken: Snapshot, moment: datetime, probes: Sequence[Probe], target: Target) -> dict[str, str | int]:
    judged = {probe.id for probe in probes}
    seen = {
        "torch": taken.known("torch_build", "version"),
        "packages": taken.known("distributions", "count"),
        "files": taken.known("files", "checked"),
        "hashed": _hashed(taken),
        "lock": _since_sealed(taken),
        "log": _read_in(taken, judged),
        "generation": f"of {target.superseded}, which leads to another one now: activate it again"
        if target.superseded
        else None,
        "plugins": ", ".join(sorted({probe.origin for probe in probes if probe.origin})) or None,
        "knowledge": knowledge.age(moment),
    }
    return {key: value for key, value in seen.items() if value is not None}


def _hashed(taken: Snapshot) -> str | None:
    """Say what a deep check hashed, None if it was a plain one."""
    if not taken.known("files", "deep"):
        return None
    hashed, remembered = taken.known("files", "hashed"), taken.known("files", "remembered")
    said = (
        f"{hashed:,} files hashed, {remembered:,} not changed since they were hashed"
        if remembered
        else f"{hashed:,} files hashed"
    )
    problem = taken.known("files", "forgotten")
    return f"{said}; nothing is remembered: {problem}" if problem else said


def _read_in(taken: Snapshot, judged: AbstractSet[str]) -> str | None:
    """Say what the log that was named shows, so that nobody wonders whether it was read, and if that is not judged."""
    from envdoctor.confirm import UNEXPLAINED

    matches = taken.known("job_log", "matches")
    if matches is None:
        return None
    trace = taken.known("job_log", "trace")
    said = f"{taken.known('job_log', 'path')}: {len(matches) or 'no'} known failure{'' if len(matches) == 1 else 's'}"
    said += ", and a traceback" if trace is not None else ""
    return said if UNEXPLAINED in judged or not (matches or trace) else f"{said}, not judged: {UNEXPLAINED} is ignored"


def _since_sealed(taken: Snapshot) -> str | None:
    """Say so if the lock is the sealed one by name and has been changed since."""
    then, now = taken.known("seal", "lock_digest"), taken.known("lock", "digest")
    same_file = taken.known("seal", "lock_origin") == taken.known("lock", "path")
    return "changed since the environment was sealed" if then and now and same_file and then != now else None
