"""A file that a package installed is gone.

Why it matters: the package still lists as installed, and the import fails, or a resource is missing hours later. This
is what remains when a package that had overwritten another's files is uninstalled, and when an upgrade is interrupted.

What to do: reinstall the package by force; a plain install calls it satisfied. Packages of the operating system, which
moves files after their RECORD was written, are a note.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.distributions import Distributions
from envdoctor.facts.files import Files
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.views.blame import Blame
from envdoctor.views.remedies import Remedies


def check(
    files: Files, distributions: Distributions, remedies: Remedies, blame: Blame | Unavailable
) -> Iterable[Finding]:
    """Report one finding for each distribution."""
    by_metadata = {item.metadata: item for item in distributions.items}
    for state in files.distributions:
        item = by_metadata.get(state.metadata)
        if not state.missing_count or item is None:
            continue
        one = state.missing_count == 1
        yield Finding(
            Severity.NOTE if item.by_system else Severity.ERROR,
            item.name,
            f"{state.missing[0] if one else f'{state.missing_count} files'} of {item.label} "
            f"{'is' if one else 'are'} not there",
            {
                "paths": list(state.missing),
                "count": state.missing_count,
                "rows": state.rows,
                **({} if isinstance(blame, Unavailable) else blame.evidence(item.name)),
            },
            () if item.by_system else remedies.reinstall([(item.name, item.version)]),
        )
