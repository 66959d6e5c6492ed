"""The user site is switched off where the target reads packages from it, by `environment/user-site`."""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.environ import Change, Left, change
from envdoctor.model import Severity, Unavailable
from envdoctor.probes.environment import user_site
from envdoctor.running.sanitising import Scene, not_judged

RULE = "user-site"
VARIABLE = "PYTHONNOUSERSITE"


def changes(scene: Scene) -> Iterator[Change | Left]:
    """Switch it off if it is read; a plain venv does not read it."""
    found = scene.judged(user_site.check)
    if isinstance(found, Unavailable):
        yield not_judged(RULE, found)
        return
    for finding in found:
        if finding.severity is Severity.ERROR:
            yield change(scene.env, RULE, VARIABLE, "1", "is 1", finding.message)
