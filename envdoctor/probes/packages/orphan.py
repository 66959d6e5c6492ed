"""A package came as a dependency, and nothing needs it any more.

Why it matters: a downgrade or uninstall leaves former dependencies behind. Parts of a package that was split up then
lie beside a version of the whole that knows nothing of them, and are imported all the same.

What to do: uninstall it. With a lock the question is answered by packages/foreign instead. Where no installer recorded
who was asked for (REQUESTED), nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.batches import SEEDS
from envdoctor.facts.distributions import Distributions
from envdoctor.model import Finding, Lock, Severity, Unavailable
from envdoctor.policy import Policy
from envdoctor.views.blame import DOCTOR
from envdoctor.views.remedies import Remedies
from envdoctor.views.requirements import Requirements


def check(
    distributions: Distributions,
    requirements: Requirements,
    remedies: Remedies,
    lock: Lock | Unavailable,
    policy: Policy,
) -> Iterable[Finding]:
    """Look for what nobody asked for and nothing requires."""
    if not isinstance(lock, Unavailable):
        return
    recorders = {item.installer for item in distributions.own if item.requested}
    for item in distributions.own:
        asked_for = item.requested or item.direct_url is not None or item.installer not in recorders
        if asked_for or item.name in SEEDS | {DOCTOR} or policy.allows(item.name):
            continue
        if item.name not in requirements.required_by:
            yield Finding(
                Severity.WARNING,
                item.name,
                f"{item.label} was installed as a dependency, and nothing requires it now",
                {"version": item.version, "installer": item.installer},
                remedies.remove([item.name]),
            )
