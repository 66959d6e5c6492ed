"""There is no lock, and what is installed is not what was sealed.

Why it matters: without a lock the seal is the only word on what belongs here. Something was installed, moved or removed
since somebody called this environment good.

What to do: put it back, or, if the change was meant, seal again. Better: lock the environment, so that it can be made
anew elsewhere. With a lock, packages/foreign, packages/drifted and packages/missing judge instead.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.batches import SEEDS
from envdoctor.facts.distributions import Distributions
from envdoctor.facts.seal import Seal
from envdoctor.model import Finding, Lock, Severity, Unavailable
from envdoctor.printable import moment_of
from envdoctor.versions import same_build
from envdoctor.views.remedies import Remedies


def check(distributions: Distributions, seal: Seal, lock: Lock | Unavailable, remedies: Remedies) -> Iterable[Finding]:
    """Compare names and versions."""
    if isinstance(lock, Lock):
        return
    sealed = {item.name: item.version for item in seal.distributions}
    present = {item.name: item for item in distributions.own}
    for name in sorted(sealed.keys() | present.keys()):
        item = present.get(name)
        was, now = sealed.get(name), item.version if item else None
        if name in sealed and item is not None and (was is None or now is None or same_build(now, was)):
            continue
        yield Finding(
            Severity.NOTE if name in SEEDS else Severity.WARNING,
            name,
            _sentence(name, was, now, known=name in sealed),
            {
                "sealed": was,
                "installed": now,
                "sealed_at": seal.taken_at,
                "installed_at": moment_of(item.installed_at) if item else None,
            },
            (*(remedies.reinstall([(name, was)]) if name in sealed else remedies.remove([name])), "envdoctor seal"),
        )


def _sentence(name: str, was: str | None, now: str | None, *, known: bool) -> str:
    if not known:
        return f"{name} {now or ''} was not here when the environment was sealed".replace("  ", " ")
    return f"{name} was {was} when the environment was sealed and is {now or 'gone'} now"
