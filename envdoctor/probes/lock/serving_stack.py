"""The lock of a training environment holds a serving stack.

Why it matters: such a stack pins torch, triton, transformers and CUDA libraries exactly and brings a web server along.
From then on it decides what training runs with, and every upgrade of it moves torch.

What to do: give serving a lock and an environment of its own. Where training itself generates (RL), allow it by name in
the configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from envdoctor import knowledge
from envdoctor.model import Finding, Lock, LockedPackage, Severity
from envdoctor.pointing import fault
from envdoctor.policy import Policy
from envdoctor.views.lock_grid import LockGrid


def check(lock: Lock, lock_grid: LockGrid, policy: Policy) -> Iterable[Finding]:
    """Report each engine; what only accompanies one is no finding, trainers use some of it by itself."""
    rows = knowledge.rows("serving")
    families = {row["name"]: row["family"] for row in rows}
    for engine in [row["name"] for row in rows if row.get("engine")]:
        pins = [pin for pin in lock.packages if pin.name == engine]
        if pins and not policy.allows(engine):
            yield _finding(lock, pins, _only(lock_grid, engine), [p for p in lock.packages if p.name in families])


def _only(lock_grid: LockGrid, engine: str) -> str:
    """Return the extra or group without which no environment has it, "" if some has it anyway."""
    having = [point for point in lock_grid.points if engine in point.wanted.wanted]
    return having[0].choice if having and all(point.choice for point in having) else ""


def _finding(lock: Lock, pins: Sequence[LockedPackage], only: str, stack: Sequence[LockedPackage]) -> Finding:
    pin = pins[0]
    where = f", by {only} alone" if only else ""
    return fault(
        Severity.WARNING,
        lock,
        pin,
        f"{pin.name} {pin.version or ''}".rstrip() + f" is a serving stack{where}; it decides which torch is locked",
        text=pin.version or pin.raw_name,
        lines=[other.line for other in pins],
        only=only,
        stack={other.name: other.line for other in stack if other.name != pin.name},
        remedy=("lock serving by itself", f'or allow it: allow = ["{pin.name}"]'),
    )
