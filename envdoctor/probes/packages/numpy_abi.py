"""NumPy 2 is installed under a package whose compiled parts were built for NumPy 1.

Why it matters: NumPy's binary interface changed with 2.0. Such a torch (before 2.3) warns at import that `_ARRAY_API`
is not found and fails at the first `tensor.numpy()`: "Numpy is not available". Its metadata sets no bound, so that
installers and `pip check` see nothing.

What to do: install numpy<2, or a release of the package that was built for NumPy 2. Where the metadata does set a
bound, packages/broken-requirement speaks, not this.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor import knowledge
from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.versions import is_version, satisfies
from envdoctor.views.expected import Expected
from envdoctor.views.remedies import Remedies
from envdoctor.views.requirements import Requirements


def check(
    distributions: Distributions,
    requirements: Requirements,
    remedies: Remedies,
    expected: Expected | Unavailable,
) -> Iterable[Finding]:
    """Compare each package of knowledge/numpy2.toml with its first release for NumPy 2."""
    numpy = distributions.active.get("numpy")
    if numpy is None or numpy.version is None or not satisfies(numpy.version, ">=2.0.0.dev0"):
        return
    for row in knowledge.rows("numpy2"):
        item = distributions.active.get(row["name"])
        if item is None or not _too_old(item, row["first"]) or _bounded(item.name, requirements):
            continue
        yield Finding(
            Severity.ERROR,
            item.name,
            f"{item.label} was built for NumPy 1, numpy is {numpy.version}; {row['first']} is the first for NumPy 2",
            {"numpy": numpy.version, "installed": item.version, "first": row["first"], "source": row["source"]},
            (*_back(remedies, expected), f"or install {item.name} {row['first']} or newer"),
        )


def _too_old(item: Distribution, first: str) -> bool:
    """Tell whether a package with compiled parts is older than its first release for NumPy 2."""
    pure = bool(item.tags) and all(tag.endswith("-any") for tag in item.tags)
    return item.version is not None and is_version(item.version) and not pure and satisfies(item.version, f"<{first}")


def _bounded(name: str, requirements: Requirements) -> bool:
    """Tell whether its own metadata rules the installed NumPy out."""
    return any(edge.requirer == name and not edge.satisfied for edge in requirements.required_by.get("numpy", ()))


def _back(remedies: Remedies, expected: Expected | Unavailable) -> tuple[str, ...]:
    pin = None if isinstance(expected, Unavailable) else expected.wanted.get("numpy")
    if pin is not None and pin.version is not None and satisfies(pin.version, "<2"):
        return remedies.reinstall([("numpy", pin.version)])
    return remedies.install("numpy<2")
