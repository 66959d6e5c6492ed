"""The guard `fx-race`: the environment in which a job's torch has an FX-tracing flag of each thread's own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from envdoctor.errors import UsageError
from envdoctor.facts.fx_flag import FxFlag, guardable, is_guardable
from envdoctor.facts.torch_build import TorchBuild

NAME = "fx-race"
HOOK = os.path.join(os.path.dirname(__file__), "payloads", "fx_guard")
"""The directory whose sitecustomize.py Python runs at its start."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """What a job is to be started with."""

    env: dict[str, str]
    said: str
    """One sentence: what will be done, or why nothing needs to be."""
    active: bool
    """True if the guard is on the path."""


def guarded(env: Mapping[str, str], build: TorchBuild, flag: FxFlag) -> Guarded:
    """Put the guard first on PYTHONPATH, if this torch has use for it.

    Raises UsageError for a torch that has the flag and that the guard was not tested with.
    """
    torch = f"torch {build.version or 'of unknown version'}"
    if not flag.shared:
        why = "is each thread's own already" if flag.kind == "thread-local" else "is not there"
        return Guarded(dict(env), f"guard {NAME}: nothing to guard, the FX-tracing flag of {torch} {why}", active=False)
    if not is_guardable(build):
        raise UsageError(f"guard {NAME}: not tested with {torch}, only with {', '.join(guardable())}")
    said = f"guard {NAME}: makes the FX-tracing flag of {torch} each thread's own, in this job and its children"
    return Guarded({**env, "PYTHONPATH": _first(env.get("PYTHONPATH", ""))}, said, active=True)


def _first(path: str) -> str:
    """Put the hook first on a search path, and nowhere else on it; an empty path is no entry."""
    entries = [entry for entry in path.split(os.pathsep) if entry != HOOK] if path else []
    return os.pathsep.join((HOOK, *entries))
