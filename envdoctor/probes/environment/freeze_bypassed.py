"""The environment was frozen, and something was installed, removed, made writable or allowed again since.

Why it matters: a frozen environment has no write bits, and its pip refuses what has no hash, so that nobody changes it
by accident. Who takes that back, or installs as root with uv, changes what running jobs import and what the seal stands
for.

What to do: find out what was installed and why; make the environment anew from its lock (`envdoctor rebuild`), or
freeze it again if the change is wanted. `envdoctor thaw` ends a freeze properly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from shlex import quote

from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.facts.freeze import PIP_CONF, Freeze
from envdoctor.facts.seal import Seal
from envdoctor.facts.startup import Startup
from envdoctor.model import Finding, Severity, Target, Unavailable

SHOWN = 50
SLACK = 1.0
"""Seconds by which a RECORD may be younger than the seal: file systems round times."""


def check(
    seal: Seal, distributions: Distributions, startup: Startup, freeze: Freeze | Unavailable, target: Target
) -> Iterable[Finding]:
    """Speak only of an environment whose seal says that it is frozen."""
    if not seal.frozen:
        return
    newer, present = _newer(seal, distributions), {item.name for item in distributions.own}
    gone = sorted({item.name for item in seal.distributions} - present)
    if newer or gone:
        yield _changed(newer, gone, seal, target)
    if isinstance(freeze, Freeze) and freeze.made:
        yield from _made_by_command(freeze, seal, target)
        return
    for site in startup.sites:
        if site.read and site.writable:
            yield _writable((site.path,), 1, seal, f"chmod a-w {quote(site.path)}")


def _made_by_command(freeze: Freeze, seal: Seal, target: Target) -> Iterable[Finding]:
    """Judge what `envdoctor freeze` did, beyond what a seal of an environment with closed site-packages tells."""
    again = f"envdoctor freeze --target {quote(target.prefix)}"
    if freeze.writable:
        yield _writable(freeze.writable, freeze.count, seal, again)
    if not freeze.hashes:
        path = f"{target.prefix}/{PIP_CONF}"
        yield Finding(
            Severity.WARNING,
            path,
            f"pip installs what has no hash again: `require-hashes` is gone from {path}, where the freeze on "
            f"{seal.taken_at} put it",
            {"frozen_at": seal.taken_at, "pip_conf": path},
            (again,),
        )


def _writable(paths: Sequence[str], count: int, seal: Seal, remedy: str) -> Finding:
    more = f" and {count - 3} more" if count > 3 else ""
    were = "was" if count == 1 else "were"
    return Finding(
        Severity.WARNING,
        paths[0],
        f"{', '.join(paths[:3])}{more} {were} made writable since the environment was frozen on {seal.taken_at}",
        {"frozen_at": seal.taken_at, "writable": list(paths[:SHOWN]), "count": count},
        (remedy,),
    )


def _newer(seal: Seal, distributions: Distributions) -> list[Distribution]:
    """Return what was not sealed, at that version, and what was written again since."""
    sealed = {(item.name, item.version) for item in seal.distributions}
    taken = _seconds(seal.taken_at)
    return [
        item
        for item in distributions.own
        if (item.name, item.version) not in sealed or (taken is not None and (item.installed_at or 0.0) > taken + SLACK)
    ]


def _seconds(moment: str) -> float | None:
    """Return an RFC 3339 moment as seconds since the epoch; None if it is none."""
    try:
        when = datetime.fromisoformat(moment)
    except ValueError:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _changed(newer: list[Distribution], gone: list[str], seal: Seal, target: Target) -> Finding:
    names = sorted(item.label for item in newer)
    said = [f"{what} {_few(some)}" for what, some in (("installed", names), ("removed", gone)) if some]
    return Finding(
        Severity.WARNING,
        target.prefix,
        f"since the environment was frozen on {seal.taken_at} somebody has {' and '.join(said)}",
        {"frozen_at": seal.taken_at, "packages": names[:SHOWN], "count": len(names), "removed": gone[:SHOWN]},
        (
            f"envdoctor rebuild --target {quote(target.prefix)}",
            f"envdoctor freeze --target {quote(target.prefix)}",
        ),
    )


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{', '.join(names[:3])}{more}"
