"""The environment was frozen, and something was installed or made writable since.

Why it matters: a frozen environment has no write bits on its site-packages, so that nobody changes it by accident. Who
takes the write bits back, or installs as root, changes what running jobs import and what the seal stands for.

What to do: find out what was installed and why; make the environment anew from its lock, or seal it again if the change
is wanted.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from shlex import quote

from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.facts.seal import Seal
from envdoctor.facts.startup import Startup
from envdoctor.model import Finding, Severity, Target

SHOWN = 50
SLACK = 1.0
"""Seconds by which a RECORD may be younger than the seal: file systems round times."""


def check(seal: Seal, distributions: Distributions, startup: Startup, target: Target) -> Iterable[Finding]:
    """Speak only of an environment whose seal says that it is frozen."""
    if not seal.frozen:
        return
    taken = _seconds(seal.taken_at)
    newer = [item for item in distributions.own if taken is not None and (item.installed_at or 0.0) > taken + SLACK]
    if newer:
        yield _installed(newer, seal, target)
    for site in startup.sites:
        if site.read and site.writable:
            yield Finding(
                Severity.WARNING,
                site.path,
                f"{site.path} was made writable since the environment was frozen on {seal.taken_at}",
                {"frozen_at": seal.taken_at},
                (f"chmod a-w {quote(site.path)}",),
            )


def _seconds(moment: str) -> float | None:
    """Return an RFC 3339 moment as seconds since the epoch; None if it is none."""
    try:
        when = datetime.fromisoformat(moment)
    except ValueError:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _installed(newer: list[Distribution], seal: Seal, target: Target) -> Finding:
    names = sorted(item.label for item in newer)
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return Finding(
        Severity.WARNING,
        target.prefix,
        f"installed after the environment was frozen on {seal.taken_at}: {', '.join(names[:3])}{more}",
        {"frozen_at": seal.taken_at, "packages": names[:SHOWN], "count": len(names)},
        (
            "make the environment anew from its lock",
            f"envdoctor seal --target {quote(target.prefix)}",
        ),
    )
