"""The environments that somebody stated, for rules that those of the lock's own declaration cannot break."""

from __future__ import annotations

from envdoctor.model import Unavailable
from envdoctor.views.lock_targets import NONE_STATED, LockTargets


def view(lock_targets: LockTargets) -> LockTargets | Unavailable:
    """Leave out what the lock declares itself."""
    return lock_targets if lock_targets.stated else Unavailable(NONE_STATED)
