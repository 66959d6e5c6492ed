"""A package has no RECORD, or one that cannot be read.

Why it matters: without it nobody knows which files are the package's. pip cannot uninstall it, upgrades leave the old
files behind, and envdoctor cannot tell whether its files are intact.

What to do: reinstall it by force with `--ignore-installed`, since pip refuses to uninstall what has no RECORD.
Packages of the operating system and of conda that never had one are a note.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from envdoctor.facts.distributions import Distributions
from envdoctor.facts.files import Files
from envdoctor.facts.interpreter import Interpreter
from envdoctor.model import Finding, Severity

_WITHOUT = frozenset({"debian", "rpm", "conda"})
"""Installers that keep their own list of files instead."""


def check(distributions: Distributions, files: Files, interpreter: Interpreter) -> Iterable[Finding]:
    """Judge dist-infos and egg-infos of the environment's own site-packages."""
    unreadable = {state.metadata: state.problem for state in files.distributions if state.problem}
    for item in distributions.own:
        if item.kind == "egg-link" or (item.has_record and item.metadata not in unreadable):
            continue
        other = item.kind != "dist-info" or (item.installer or "").lower() in _WITHOUT
        wanted = shlex.quote(f"{item.name}=={item.version}" if item.version else item.name)
        yield Finding(
            Severity.NOTE if other else Severity.ERROR,
            item.name,
            f"{item.label} has {'a RECORD that ' + _verb(unreadable[item.metadata]) if item.metadata in unreadable else 'no RECORD'}, "
            "so its files cannot be checked",
            {"metadata": item.metadata, "kind": item.kind, "installer": item.installer, "problem": unreadable.get(item.metadata)},
            () if other else (f"{shlex.quote(interpreter.python)} -m pip install --ignore-installed --no-deps {wanted}",),
        )


def _verb(problem: str | None) -> str:
    return (problem or "").removeprefix("RECORD ")
