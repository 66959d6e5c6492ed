"""A release that is known to have been malicious is installed.

Why it matters: it has run its code on this machine, with the rights of whoever installed or imported it.

What to do: treat the machine as compromised: stop jobs, tell whoever answers for security, change every credential that
was on it (SSH keys, cloud, registry and tracking tokens), and make the environment anew from a clean lock.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor import knowledge
from envdoctor.facts.distributions import Distributions
from envdoctor.model import Finding, Severity


def check(distributions: Distributions) -> Iterable[Finding]:
    """Look every installed release up in knowledge/compromised.toml."""
    rows = {row["name"]: row for row in knowledge.rows("compromised")}
    for item in distributions.items:
        row = rows.get(item.name)
        if row is not None and (not row["versions"] or item.version in row["versions"]):
            yield Finding(
                Severity.ERROR,
                item.name,
                f"{item.label} was malicious: it {row['what']}",
                {"metadata": item.metadata, "source": row["source"], "checked": str(row["checked"])},
                (
                    "isolate this machine and tell whoever answers for its security",
                    "change every credential that was on it",
                ),
            )
