"""The lock that the target is judged by, read."""

from __future__ import annotations

from envdoctor import locks
from envdoctor.model import Lock, Target, Unavailable
from envdoctor.system.host import Host


def collect(target: Target, host: Host) -> Lock | Unavailable:  # noqa: ARG001 - every collector has this shape
    """Read the lock file. Raises LockError (exit status 2) if it is not one, or has no such group or extra."""
    if target.lock is None:
        return Unavailable("no lock: none was named and none lies beside the target")
    lock = locks.read(target.lock)
    locks.check_choice(lock, extras=target.extras, groups=target.groups)
    return lock
