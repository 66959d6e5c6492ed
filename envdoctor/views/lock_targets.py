"""The environments that the lock is judged for: here the target's own."""

from __future__ import annotations

from dataclasses import dataclass

from envdoctor.facts.interpreter import Interpreter
from envdoctor.locks.environments import LockEnvironment, of_target

NONE_STATED = "no target stated: name one with --target, or --python and --platform"


@dataclass(frozen=True, slots=True)
class LockTargets:
    """Stated, declared by the lock, or one target's own."""

    environments: tuple[LockEnvironment, ...]
    stated: bool = True
    """False for those that the lock declares itself."""
    own: bool = False
    """True for that of a target that is there."""


def view(interpreter: Interpreter) -> LockTargets:
    """Return the target's environment."""
    name = f"Python {interpreter.version or 'of unknown version'}"
    own = of_target(interpreter.markers, interpreter.libc, free_threaded=interpreter.free_threaded, name=name)
    return LockTargets((own,), own=True)
