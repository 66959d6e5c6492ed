"""A package is on the job's path twice, and the first copy hides the other.

Why it matters: which torch runs depends on the order of sys.path. A venv with system packages, a user site or
PYTHONPATH can hide a working CUDA build behind another one, and tools that look at one directory report the other copy.

What to do: keep one copy: an isolated environment made from its lock, or the system's exact version and nothing above
it. Copies of one version are a note.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.batches import SEEDS
from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.model import Finding, Severity


def check(distributions: Distributions) -> Iterable[Finding]:
    """Look for one name in several directories."""
    groups: dict[str, list[Distribution]] = {}
    for item in distributions.items:
        if item.location not in [other.location for other in groups.get(item.name, [])]:
            groups.setdefault(item.name, []).append(item)
    for name, items in groups.items():
        if len(items) == 1:
            continue
        first, *hidden = items
        equal = all(item.version == first.version for item in hidden)
        editable = any(item.direct_url and item.direct_url.editable for item in items) and equal
        if editable:
            continue  # the project's own source tree on the path, and its metadata in site-packages
        copies = ", ".join(f"{item.version or 'unknown'} in {item.location}" for item in hidden)
        yield Finding(
            Severity.NOTE if equal or name in SEEDS else Severity.ERROR,
            name,
            f"{first.label} in {first.location} hides {copies}",
            {"copies": [{"version": item.version, "location": item.location, "origin": item.origin} for item in items]},
            () if equal else ("keep one copy: an isolated environment from the lock, or only the system's",),
        )
