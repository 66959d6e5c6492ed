"""A package has no RECORD, or one that cannot be read.

Why it matters: without it nobody knows which files are the package's. pip cannot uninstall it, upgrades leave the old
files behind, and envdoctor cannot tell whether its files are intact.

What to do: reinstall it by force with `--ignore-installed`, since pip refuses to uninstall what has no RECORD.
Packages of the operating system and of conda that never had one are a note.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.distributions import Distributions
from envdoctor.facts.files import Files
from envdoctor.model import Finding, Severity
from envdoctor.views.remedies import Remedies

_WITHOUT = frozenset({"debian", "rpm", "conda"})
"""Installers that keep their own list of files instead."""


def check(distributions: Distributions, files: Files, remedies: Remedies) -> Iterable[Finding]:
    """Judge dist-infos and egg-infos of the environment's own site-packages."""
    unreadable = {state.metadata: state.problem for state in files.distributions if state.problem}
    for item in distributions.own:
        problem = unreadable.get(item.metadata)
        if item.kind == "egg-link" or (item.has_record and problem is None):
            continue
        other = item.kind != "dist-info" or (item.installer or "").lower() in _WITHOUT
        what = f"a RECORD that {problem.removeprefix('RECORD ')}" if problem else "no RECORD"
        yield Finding(
            Severity.NOTE if other else Severity.ERROR,
            item.name,
            f"{item.label} has {what}, so its files cannot be checked",
            {"metadata": item.metadata, "kind": item.kind, "installer": item.installer, "problem": problem},
            () if other else remedies.reinstall([(item.name, item.version)], over=True),
        )
