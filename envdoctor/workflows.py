"""One function a command."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from envdoctor import registry, snapshot
from envdoctor.facts.distributions import Distributions
from envdoctor.facts.files import Files
from envdoctor.facts.interpreter import Interpreter
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.judge import judge
from envdoctor.locate import Wish, locate
from envdoctor.model import Report, Target
from envdoctor.policy import Policy
from envdoctor.snapshot import Snapshot
from envdoctor.system.forked import call
from envdoctor.system.host import Host, LocalHost

__all__ = ["LocalHost", "Selection", "Wish", "check", "report"]

DEADLINE = 30.0
"""Seconds that a whole check may take. A warm one takes about 0.3; a file server that does not answer takes for ever."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which probes to run: ids or prefixes."""

    select: Sequence[str] = ()
    ignore: Sequence[str] = ()


def check(wish: Wish, selection: Selection, host: Host, *, deadline: float = DEADLINE) -> Report:
    """Gather what the selected probes need and judge it.

    Raises UsageError (nothing to check, no lock where one was named, not a lock) and EnvDoctorError.
    """
    began = time.monotonic()
    probes = registry.select(selection.select, selection.ignore)
    target, policy = call("the search for the target", partial(locate, wish, host), timeout=deadline)
    taken = snapshot.take(target, host, registry.facts_for(probes), deadline=deadline - (time.monotonic() - began))
    return report(target, policy, taken, probes, host, began)


def report(
    target: Target, policy: Policy, taken: Snapshot, probes: Sequence[registry.Probe], host: Host, began: float
) -> Report:
    """Judge a snapshot; `began` is the monotonic time at which the work was begun."""
    now = host.now()
    outcomes = judge(probes, taken, policy, target, now)
    version = taken.interpreter.version if isinstance(taken.interpreter, Interpreter) else None
    return Report(target, version, host.name, now, time.monotonic() - began, outcomes, policy.path, _seen(taken))


def _seen(taken: Snapshot) -> dict[str, str | int]:
    seen: dict[str, str | int] = {}
    if isinstance(taken.torch_build, TorchBuild) and taken.torch_build.version:
        seen["torch"] = taken.torch_build.version
    if isinstance(taken.distributions, Distributions):
        seen["packages"] = len(taken.distributions.active)
    if isinstance(taken.files, Files):
        seen["files"] = taken.files.checked
    return seen
