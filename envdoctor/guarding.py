"""The guard `fx-race`: the environment in which a job's torch has an FX-tracing flag of each thread's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from envdoctor import hooks
from envdoctor.errors import UsageError
from envdoctor.facts.fx_flag import FxFlag, guardable, is_guardable
from envdoctor.facts.torch_build import TorchBuild

NAME = "fx-race"


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

    Raises UsageError for a torch that has the flag and that the guard was not tested with, and as `hooks.first` does.
    """
    torch = f"torch {build.version or 'of unknown version'}"
    if not flag.shared:
        why = "is each thread's own already" if flag.kind == "thread-local" else "is not there"
        return Guarded(dict(env), f"guard {NAME}: nothing to guard, the FX-tracing flag of {torch} {why}", active=False)
    if not is_guardable(build):
        raise UsageError(f"guard {NAME}: not tested with {torch}, only with {', '.join(guardable())}")
    said = f"guard {NAME}: makes the FX-tracing flag of {torch} each thread's own, in this job and its children"
    return Guarded(hooks.first(hooks.FX_GUARD, env), said, active=True)
