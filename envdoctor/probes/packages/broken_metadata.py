"""A package's metadata is missing or cannot be understood.

Why it matters: tools disagree about such a package: some skip it, some fail, importlib.metadata reports it without a
version. Interrupted installs, full disks and hand-made copies leave it behind.

What to do: reinstall the package by force; if nothing needs it, delete the directory.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.distributions import Distributions
from envdoctor.facts.files import Files
from envdoctor.model import Finding, Severity
from envdoctor.versions import is_version
from envdoctor.views.remedies import Remedies
from envdoctor.views.requirements import Requirements


def check(
    distributions: Distributions, files: Files, requirements: Requirements, remedies: Remedies
) -> Iterable[Finding]:
    """Collect what reading the metadata brought to light, one finding a package."""
    invalid: dict[str, list[str]] = {}
    for name, text in requirements.invalid:
        invalid.setdefault(name, []).append(text)
    outside = {state.metadata: state.outside for state in files.distributions if state.outside}
    for item in distributions.own:
        problems = list(item.problems)
        if item.version is not None and not is_version(item.version):
            problems.append(f"its version {item.version!r} is no version (PEP 440)")
        problems += [f"its requirement {text!r} is no requirement (PEP 508)" for text in invalid.get(item.name, ())]
        if item.metadata in outside:
            problems.append(f"its RECORD claims {len(outside[item.metadata])} files outside the environment")
        if problems:
            yield Finding(
                Severity.ERROR if item.version is None else Severity.WARNING,
                item.name,
                f"{item.metadata.rpartition('/')[2]}: {problems[0]}"
                + (f", and {len(problems) - 1} more" if len(problems) > 1 else ""),
                {"metadata": item.metadata, "problems": problems, "outside": list(outside.get(item.metadata, ()))},
                remedies.reinstall([(item.name, item.version)]),
            )
