"""Ask for what no lock says of itself: what pip's indexes list, and what is known of vulnerabilities.

Both run in children under one deadline. What is not answered is unknown, with the reason; it is never taken for clean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from envdoctor.model import Lock, Outcome, Unavailable
from envdoctor.policy import Policy
from envdoctor.printable import printable, redact
from envdoctor.system.forked import Task, gather
from envdoctor.system.host import Host
from envdoctor.views import lock_advisories, lock_listed
from envdoctor.views.lock_online import LockOnline, Pin

GRACE = 1.0
"""Seconds for a child to hand over what it has when its time is over."""
SHOWN = 20
"""Packages that one reason names."""


def ask(lock: Lock, host: Host, deadline: float) -> LockOnline:
    """Ask for every release that a lock pins, within so many seconds."""
    from envdoctor.audit import advisories, index

    pins = _pins(package for package in lock.packages if package.source == "index")
    named = _pins(package for package in lock.packages if package.source in ("index", "url"))
    seconds = max(0.1, deadline - GRACE)
    tasks = [
        Task("index", partial(index.look_up, pins, host, seconds), timeout=deadline),
        Task("pip-audit", partial(advisories.ask, named, host, seconds), timeout=deadline),
    ]
    answered: Mapping[str, Any] = gather(tasks, deadline=deadline)
    looked, audited = answered["index"], answered["pip-audit"]
    online = LockOnline()
    if isinstance(looked, Unavailable):
        online = replace(online, index_problem=f"pip's index: {looked.reason}")
    else:
        online = replace(online, indexes=looked.indexes, listed=looked.listed, unknown=looked.unknown)
    if isinstance(audited, Unavailable):
        return replace(online, advisories_problem=audited.reason)
    return replace(online, advisories=audited.advisories, unaudited=audited.unknown)


def _pins(packages: Iterable[Any]) -> list[Pin]:
    return list(dict.fromkeys((package.name, package.version) for package in packages if package.version))


def gaps(lock: Lock, online: LockOnline) -> Mapping[str, Mapping[Pin, str]]:
    """Return for each rule the pins of which it knows nothing, and why."""
    listed, known = lock_listed.view(lock, online), lock_advisories.view(lock, online)
    found: dict[str, Mapping[Pin, str]] = {}
    if not isinstance(listed, Unavailable):
        compared = listed.uncompared if lock.format in ("requirements", "pipfile") else {}
        found |= {"lock/yanked": listed.unlisted, "lock/unlisted-hash": listed.uncompared}
        found |= {"lock/source-only-hash": compared}
    if not isinstance(known, Unavailable):
        found["lock/vulnerable"] = known.unknown
    return found


def admitted(
    outcomes: Iterable[Outcome], lock: Lock, online: LockOnline, policy: Policy, now: datetime
) -> tuple[Outcome, ...]:
    """Add to the outcomes what their rules could not judge, unless the policy mutes the rule for that package."""
    unknown = gaps(lock, online)
    return tuple(_admitted(outcome, unknown.get(outcome.probe, {}), policy, now) for outcome in outcomes)


def _admitted(outcome: Outcome, unknown: Mapping[Pin, str], policy: Policy, now: datetime) -> Outcome:
    heard = {pin: why for pin, why in unknown.items() if not policy.mutes_finding(outcome.probe, pin[0], now)}
    if outcome.skipped or not heard:
        return outcome
    return replace(outcome, skipped=Unavailable(printable(redact(_said(heard))), failed=True))


def _said(unknown: Mapping[Pin, str]) -> str:
    """Name the packages, reason by reason, the commonest first."""
    reasons = [why for why, _ in Counter(unknown.values()).most_common()]
    parts = []
    for why in reasons:
        names = [f"{name} {version}" for (name, version), other in unknown.items() if other == why]
        more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
        parts.append(f"{', '.join(names[:SHOWN])}{more}: {why}")
    return f"unknown of {len(unknown):,} package{'s' * (len(unknown) > 1)} ({'; '.join(parts)})"
