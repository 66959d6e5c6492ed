"""An installed package requires another one that is absent or of a version it does not accept.

Why it matters: the requirement is the author's word on what the package runs with. Past it, failures are odd and late.

What to do: install what is required, or the version of the requiring package that the lock names. Where the lock itself
pins the pair so, the lock is at fault.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.views.blame import Blame
from envdoctor.views.expected import Expected
from envdoctor.views.remedies import Remedies
from envdoctor.views.requirements import Edge, Requirements


def check(
    requirements: Requirements, remedies: Remedies, expected: Expected | Unavailable, blame: Blame | Unavailable
) -> Iterable[Finding]:
    """Yield one finding for each requiring package."""
    broken: dict[str, list[Edge]] = {}
    for edge in requirements.edges:
        if not edge.satisfied and not _said(edge, expected):
            broken.setdefault(edge.requirer, []).append(edge)
    for requirer, edges in broken.items():
        absent = [edge for edge in edges if edge.installed is None]
        first = absent[0] if absent else edges[0]
        have = f"{first.name} {first.installed} is installed" if first.installed else f"{first.name} is not installed"
        more = f", and {len(edges) - 1} more" if len(edges) > 1 else ""
        yield Finding(
            Severity.ERROR,
            requirer,
            f"{requirer} requires {first.text.partition(';')[0].strip()}, and {have}{more}",
            {
                "requirements": [{"text": edge.text, "name": edge.name, "installed": edge.installed} for edge in edges],
                **_blamed(requirer, edges, blame),
            },
            _remedy(requirer, first, expected, remedies),
        )


def _said(edge: Edge, expected: Expected | Unavailable) -> bool:
    """Tell whether packages/missing says it already: the lock has both, and the required one is not there."""
    locked = not isinstance(expected, Unavailable) and edge.requirer in expected.wanted and edge.name in expected.wanted
    return locked and edge.installed is None


def _blamed(requirer: str, edges: list[Edge], blame: Blame | Unavailable) -> dict[str, str]:
    if isinstance(blame, Unavailable):
        return {}
    for name in (requirer, *(edge.name for edge in edges)):
        if name in blame.cause_of:
            return blame.evidence(name)
    return {}


def _remedy(requirer: str, edge: Edge, expected: Expected | Unavailable, remedies: Remedies) -> tuple[str, ...]:
    install = remedies.install(edge.text.partition(";")[0].strip())
    if isinstance(expected, Unavailable):
        return install
    if requirer not in expected.allowed:
        return remedies.remove([requirer])
    if edge.name in expected.wanted:
        return ("bring both packages back to the lock; if this stays, the lock itself is inconsistent",)
    return (*install, f"and add {edge.name} to the lock, which pins {requirer} without it")
