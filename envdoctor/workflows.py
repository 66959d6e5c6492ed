"""One function a command."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from envdoctor import knowledge
from envdoctor.errors import UsageError
from envdoctor.locate import Wish, locate
from envdoctor.marking import remember
from envdoctor.model import Report, Target
from envdoctor.policy import Policy
from envdoctor.system.forked import call
from envdoctor.system.host import Host, LocalHost

if TYPE_CHECKING:
    from envdoctor.registry import Probe
    from envdoctor.snapshot import Snapshot

__all__ = ["LocalHost", "Selection", "Wish", "check", "report"]

DEADLINE = 30.0
"""Seconds that a whole check may take. A warm one takes about 0.3; a dead file server takes for ever."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which probes to run: ids or prefixes."""

    select: Sequence[str] = ()
    ignore: Sequence[str] = ()


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


def check(wish: Wish, selection: Selection, host: Host, *, deadline: float = DEADLINE, keep: bool = True) -> Report:
    """Gather what the selected probes need and judge it; with `keep`, raise the marks of the compile caches seen.

    Modules are imported while children read: on two cores the imports then cost next to nothing.
    Raises UsageError (nothing to check, no lock where one was named, not a lock) and EnvDoctorError.
    """
    began = time.monotonic()
    target, policy = call("the search for the target", partial(locate, wish, host), timeout=deadline)
    from envdoctor import registry, snapshot

    everything = not (selection.select or selection.ignore)
    named = {"job_log"} if target.log is not None else set()  # a log confirms what any probe finds
    probes = partial(_select, selection, logged=target.log is not None)
    wanted = snapshot.FACTS.keys() if everything else registry.facts_for(probes()) | named
    left = deadline - (time.monotonic() - began)
    taken = snapshot.take(target, host, wanted, deadline=left, meanwhile=chain(snapshot.load(), registry.load()))
    registry.known_to(policy)
    judged = report(target, policy, taken, probes(), host, began)
    said = remember(taken) if keep else None
    return replace(judged, seen={**judged.seen, "state": said}) if said else judged


def _select(selection: Selection, *, logged: bool) -> tuple[Probe, ...]:
    """Return the probes to run. A log that was named is judged whatever is selected, unless that is ignored."""
    from envdoctor import registry
    from envdoctor.confirm import UNEXPLAINED

    also = (UNEXPLAINED,) if logged and selection.select else ()
    return registry.select((*selection.select, *also), selection.ignore)


def report(
    target: Target, policy: Policy, taken: Snapshot, probes: Sequence[Probe], host: Host, began: float
) -> Report:
    """Judge a snapshot; `began` is the monotonic time at which the work was begun."""
    from envdoctor.judge import judge

    now = host.now()
    outcomes = judge(probes, taken, policy, target, now)
    version = taken.known("interpreter", "version")
    return Report(
        target,
        version,
        host.name,
        now,
        time.monotonic() - began,
        outcomes,
        policy.path,
        taken.failed(),
        _seen(taken, now, {probe.id for probe in probes}),
    )


def _seen(taken: Snapshot, moment: datetime, judged: AbstractSet[str]) -> dict[str, str | int]:
    seen = {
        "torch": taken.known("torch_build", "version"),
        "packages": taken.known("distributions", "count"),
        "files": taken.known("files", "checked"),
        "lock": _since_sealed(taken),
        "log": _read_in(taken, judged),
        "knowledge": knowledge.age(moment),
    }
    return {key: value for key, value in seen.items() if value is not None}


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
