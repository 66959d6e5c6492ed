"""PYTHONPATH puts something in front of the environment's own packages.

Why it matters: no environment ignores PYTHONPATH. Its entries come before the standard library and site-packages, in
every Python that the job starts, so that one line in a shell profile or a module file decides which torch is imported.

What to do: unset PYTHONPATH in the job and install what it pointed to; for the project's own sources, an editable
install says the same thing where it can be seen.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.distributions import Distributions
from envdoctor.facts.metadata import normalised
from envdoctor.facts.startup import PythonPathEntry, Startup
from envdoctor.facts.variables import Variables
from envdoctor.model import Finding, Severity, Unavailable

SHOWN = 20


def check(
    startup: Startup,
    distributions: Distributions | Unavailable,
    variables: Variables,  # noqa: ARG001 - where they are not known, skipped
) -> Iterable[Finding]:
    """Judge each entry by what it holds; one inside the environment, or empty, changes nothing."""
    installed = frozenset() if isinstance(distributions, Unavailable) else frozenset(i.name for i in distributions.own)
    for entry in startup.pythonpath:
        verdict = _judged(entry, installed)
        if verdict is not None:
            severity, text = verdict
            message = f"PYTHONPATH names {entry.path}, {text}"
            yield Finding(severity, entry.path, message, _evidence(entry), _remedy(severity))


def _judged(entry: PythonPathEntry, installed: frozenset[str]) -> tuple[Severity, str] | None:
    if not entry.exists:
        return Severity.NOTE, "which does not exist"
    if entry.inside:
        return None
    if entry.environment is not None:
        return Severity.ERROR, f"the packages of another environment ({entry.environment})"
    if entry.distributions:
        return Severity.WARNING, f"which holds {entry.distributions} installed packages outside the environment"
    if not entry.modules:
        return None
    hidden = [name for name in entry.modules if normalised(name) in installed]
    if hidden and entry.project is None:
        return Severity.ERROR, f"whose {', '.join(hidden[:3])} hides the installed package of that name"
    if entry.project is not None:
        return Severity.NOTE, f"sources of the project {entry.project}"
    return Severity.WARNING, f"which holds modules outside the environment: {', '.join(entry.modules[:3])}"


def _evidence(entry: PythonPathEntry) -> dict[str, object]:
    return {
        "distributions": entry.distributions,
        "modules": list(entry.modules[:SHOWN]),
        "environment": entry.environment,
        "project": entry.project,
    }


def _remedy(severity: Severity) -> tuple[str, ...]:
    return ("unset PYTHONPATH",) if severity > Severity.NOTE else ()
