"""The lock, narrowed to this target."""

from __future__ import annotations

from envdoctor import locks
from envdoctor.facts.interpreter import Interpreter
from envdoctor.locks import Selection as Expected
from envdoctor.model import Lock, Target

__all__ = ["Expected", "view"]


def view(lock: Lock, interpreter: Interpreter, target: Target) -> Expected:
    """Evaluate markers, groups and extras for the target's interpreter."""
    return locks.select(lock, interpreter.markers, extras=target.extras, groups=target.groups)
