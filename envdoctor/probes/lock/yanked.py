"""A locked release has been yanked from the index.

Why it matters: its makers took it back, mostly for a fault of it. A pin gets it all the same: pip and uv warn for a
requirements file, and say nothing for a pylock.toml.

What to do: read the reason; lock another release.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault
from envdoctor.views.lock_listed import Compared, LockListed


def check(lock: Lock, lock_listed: LockListed) -> Iterable[Finding]:
    """Report each release once, at its first pin."""
    first: dict[tuple[str, str | None], Compared] = {}
    for pin in lock_listed.pins:
        if pin.yanked is not None:
            first.setdefault((pin.package.name, pin.package.version), pin)
    for (name, version), pin in first.items():
        reason = " ".join((pin.yanked or "").split())[:300]
        yield fault(
            Severity.WARNING,
            lock,
            pin.package,
            f"{name} {version} was yanked from the index: {reason or 'no reason is given'}",
            text=version or "",
            reason=reason,
            remedy=(f"lock another release of {name}, or {name}!={version} in what the lock is compiled from",),
        )
