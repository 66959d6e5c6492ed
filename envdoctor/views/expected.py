"""The lock, narrowed to this target."""

from __future__ import annotations

from dataclasses import replace

from envdoctor import locks
from envdoctor.facts.distributions import Distributions
from envdoctor.facts.interpreter import Interpreter
from envdoctor.locks import Selection as Expected
from envdoctor.model import Lock, Target

__all__ = ["Expected", "view"]


def view(lock: Lock, interpreter: Interpreter, target: Target, distributions: Distributions) -> Expected:
    """Evaluate markers, groups and extras for the target's interpreter.

    A default group of which nothing at all is installed was left out on purpose (`uv sync --no-dev`); a lock does not
    say so, and forty missing packages would.
    """
    left_out = [group for group in lock.default_groups if _absent(group, lock, interpreter, target, distributions)]
    kept = tuple(group for group in lock.default_groups if group not in left_out)
    return _select(replace(lock, default_groups=kept), interpreter, target)


def _select(lock: Lock, interpreter: Interpreter, target: Target) -> Expected:
    return locks.select(lock, interpreter.markers, extras=target.extras, groups=target.groups)


def _absent(group: str, lock: Lock, interpreter: Interpreter, target: Target, distributions: Distributions) -> bool:
    """Tell whether a default group, not asked for by name, brings packages of which none is installed."""
    if group in target.groups:
        return False
    others = tuple(other for other in lock.default_groups if other != group)
    without = _select(replace(lock, default_groups=others), interpreter, target)
    brought = _select(lock, interpreter, target).wanted.keys() - without.wanted.keys()
    return bool(brought) and not any(name in distributions.active for name in brought)
