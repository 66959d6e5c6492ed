"""A locked package requires a version of another one that the lock does not pin.

Why it matters: no resolver has seen the two together, so the lock was edited or merged by hand. pip refuses it, tools
that install without looking at requirements do not, and failures are odd and late.

What to do: lock again. Where the requirement is known to be too narrow, override it in the tool that locks, so that the
lock says so.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.companions import COMPANIONS, release_misfit
from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault
from envdoctor.views.lock_broken import LockBroken
from envdoctor.views.lock_online import DryRun
from envdoctor.views.lock_requirements import LockEdge


def check(lock: Lock, lock_broken: LockBroken) -> Iterable[Finding]:
    """Report one finding for each requiring package, or what a resolver says."""
    if lock_broken.conflict is not None:
        yield _conflict(lock, lock_broken.conflict)
    broken: dict[str, list[LockEdge]] = {}
    for edge in lock_broken.edges:
        if not _of_companions(edge):
            broken.setdefault(edge.requirer.name, []).append(edge)
    for name, edges in broken.items():
        first = edges[0]
        pins = {edge.name: edge.pin for edge in edges if edge.pin is not None}
        more = f", and {len(pins) - 1} more" if len(pins) > 1 else ""
        asker = f"{name} {first.requirer.version or ''}".rstrip()
        pin = pins[first.name]
        yield fault(
            Severity.ERROR,
            lock,
            first.requirer,
            f"{asker} requires {first.text.partition(';')[0].strip()}, and the lock has {pin.name} {pin.version} "
            f"(line {pin.line}){more}",
            text=first.requirer.version or first.requirer.raw_name,
            requirements={edge.name: edge.text for edge in edges},
            lines=[pin.line for pin in pins.values()],
            environment=first.environment,
            remedy=("lock again; or override the requirement, so that the lock records it",),
        )


def _conflict(lock: Lock, run: DryRun) -> Finding:
    """Tell a resolver's own sentence, at the first pin that it names."""
    pin = next((package for package in lock.packages if f"{package.name}==" in run.conflict), None)
    said = f"the pins do not fit together for {run.environment}: {run.conflict}"
    remedy = ("lock again; or override the requirement, so that the lock records it",)
    text = (pin.version or "") if pin else ""
    return fault(Severity.ERROR, lock, pin, said, text=text, environment=run.environment, remedy=remedy)


def _of_companions(edge: LockEdge) -> bool:
    """Tell whether lock/companion-mismatch says it, which needs no metadata."""
    pins = {pin.name: pin.version or "" for pin in (edge.requirer, edge.pin) if pin is not None}
    torch = pins.pop("torch", None)
    other = next((name for name in pins if name in (*COMPANIONS, "triton")), None)
    return torch is not None and other is not None and release_misfit(torch, other, pins[other]) is not None
