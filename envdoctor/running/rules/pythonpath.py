"""Entries of PYTHONPATH that put installed packages before the target's are taken off.

By `environment/pythonpath`: the packages of another environment, modules that hide an installed package, and folders of
installed packages. Sources stay: those of a project, and plain modules that hide nothing.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator

from envdoctor.environ import Change, Left, change
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.probes.environment import pythonpath
from envdoctor.running.sanitising import Scene, not_judged

RULE = "pythonpath"
VARIABLE = "PYTHONPATH"


def changes(scene: Scene) -> Iterator[Change | Left]:
    """Take off what leaks."""
    found = scene.judged(pythonpath.check)
    if isinstance(found, Unavailable):
        yield not_judged(RULE, found)
        return
    leaks = [finding for finding in found if _leaks(finding)]
    if leaks:
        gone = {finding.subject for finding in leaks}
        parts = scene.env[VARIABLE].split(os.pathsep)
        kept = [part for part in parts if os.path.normpath(os.path.join(scene.cwd, part)) not in gone]
        what = f"without {' and '.join(finding.subject for finding in leaks)}"
        why = "; ".join(finding.message for finding in leaks)
        yield change(scene.env, RULE, VARIABLE, os.pathsep.join(kept) if any(kept) else None, what, why)


def _leaks(finding: Finding) -> bool:
    packages = bool(finding.evidence.get("distributions"))
    return finding.severity is Severity.ERROR or (finding.severity is Severity.WARNING and packages)
