"""Entries of LD_LIBRARY_PATH that hide CUDA libraries of the target, and stubs of the driver, are taken off.

By `cuda/library-shadowed`, its errors alone: an entry from which torch loads nothing stays, others may need it; and by
`cuda/stub-on-path`. Where an entry holds the driver's libraries as well, it stays and the target's own come before it.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Sequence

from envdoctor.environ import Change, Left, change
from envdoctor.facts.loader import Loader
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.probes.cuda import library_shadowed, stub_on_path
from envdoctor.running.sanitising import Scene, not_judged

RULE = "library-path"
VARIABLE = "LD_LIBRARY_PATH"
DRIVER = ("libcuda.so", "libnvidia-ml.so")


def changes(scene: Scene) -> Iterator[Change | Left]:
    """Take off what is in the way."""
    hiding, stubs = scene.judged(library_shadowed.check), scene.judged(stub_on_path.check)
    loader = scene.facts["loader"]
    if isinstance(hiding, Unavailable) or isinstance(stubs, Unavailable) or isinstance(loader, Unavailable):
        yield not_judged(RULE, next(each for each in (hiding, stubs, loader) if isinstance(each, Unavailable)))
        return
    worse = [finding for finding in hiding if finding.severity is Severity.ERROR]
    needed = _with_driver(loader)
    behind = [finding for finding in worse if finding.subject in needed]
    away = [finding for finding in (*worse, *stubs) if finding not in behind]
    if not (away or behind):
        return
    parts = _without(scene, {finding.subject for finding in away})
    first = list(dict.fromkeys(place for finding in behind for place in _bundled(finding)))
    after = ":".join([*first, *parts]) or None
    yield change(scene.env, RULE, VARIABLE, after, _what(away, first), "; ".join(dict.fromkeys(_why(away, behind))))


def _with_driver(loader: Loader) -> set[str]:
    """Return the entries in which the driver's own libraries lie, which no wheel brings."""
    return {
        folder.path
        for folder in loader.folders
        if folder.kind != "stub" and any(copy.soname.startswith(DRIVER) for copy in folder.libraries)
    }


def _bundled(finding: Finding) -> list[str]:
    """Return the directories of the target that a finding's entry hides."""
    libraries = finding.evidence["libraries"]
    return sorted({os.path.dirname(each["bundled"]) for each in libraries}) if isinstance(libraries, list) else []


def _without(scene: Scene, paths: set[str]) -> list[str]:
    """Return the entries that stay, as they are written (ld.so(8): colons and semicolons)."""
    parts = re.split("[:;]", scene.env[VARIABLE])
    return [part for part in parts if os.path.normpath(os.path.join(scene.cwd, part)) not in paths]


def _what(away: Sequence[Finding], first: Sequence[str]) -> str:
    without = "without " + " and ".join(dict.fromkeys(finding.subject for finding in away)) if away else ""
    begins = f"begins with {':'.join(first)}" if first else ""
    return ", ".join(filter(None, (without, begins)))


def _why(away: Sequence[Finding], behind: Sequence[Finding]) -> Iterator[str]:
    yield from (finding.message for finding in (*away, *behind))
