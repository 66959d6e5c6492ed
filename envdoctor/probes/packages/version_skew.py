"""Packages that are released together are installed at different versions.

Why it matters: a library and its precompiled kernels (flashinfer-python and flashinfer-jit-cache, for one) call each
other without a stable interface. Past their own guard they compute nonsense or crash.

What to do: pin all of them to one version and install them together. Build labels (`+cu130`) do not count as skew.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor import knowledge
from envdoctor.facts.distributions import Distributions
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.versions import same_release
from envdoctor.views.blame import Blame
from envdoctor.views.remedies import Remedies


def check(distributions: Distributions, remedies: Remedies, blame: Blame | Unavailable) -> Iterable[Finding]:
    """Compare the installed members of each group with the one that sets the version."""
    active = distributions.active
    for row in knowledge.rows("skew"):
        members = {name: active[name].version or "" for name in row["members"] if name in active}
        if not members:
            continue
        leader = row["name"] if row["name"] in members else next(iter(members))
        apart = [name for name, version in members.items() if not same_release(version, members[leader])]
        if apart:
            versions = ", ".join(f"{name} {version}" for name, version in members.items())
            evidence = {} if isinstance(blame, Unavailable) else blame.evidence(apart[0])
            yield Finding(
                Severity.ERROR,
                apart[0],
                f"{versions} must be one version: {row['what']}",
                {"versions": members, "source": row["source"], **evidence},
                remedies.reinstall([(name, members[leader].partition("+")[0]) for name in apart]),
            )
