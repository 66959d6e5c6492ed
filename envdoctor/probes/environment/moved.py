"""The environment was moved, renamed or copied: its scripts and activate still name another place.

Why it matters: absolute paths are baked into every console script and into activate. After a move, `source
bin/activate` succeeds and shows the prompt, but puts a folder on PATH that is gone, so that the system's Python runs;
after a copy, the scripts run the packages of the environment that was copied. bin/python itself goes on working and
hides it.

What to do: make the environment anew from its lock at the new place, or move it back; do not patch shebangs one by one.
An environment that uv made with --relocatable may be moved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from os.path import dirname
from shlex import quote

from envdoctor.facts.launchers import Activation, Launchers, Script
from envdoctor.model import Finding, Severity, Target

SHOWN = 50


def check(launchers: Launchers, target: Target) -> Iterable[Finding]:
    """Judge by what most scripts and activate name; a few strays among sound scripts are a fault of their own."""
    stale = [script for script in launchers.scripts if is_stale(script)]
    sound = sum(script.own and script.interpreter is not None for script in launchers.scripts)
    misled = [activation for activation in launchers.activations if _misleads(activation)]
    if misled or (stale and len(stale) >= sound):
        yield _moved(stale, misled, launchers, target)
    else:
        yield from map(_stray, stale)


def is_stale(script: Script) -> bool:
    """Tell whether a script is run by a Python that is gone, or by another environment's.

    One that names a Python of the system on purpose is left alone.
    """
    return not script.own and (not script.exists or script.environment is not None)


def _misleads(activation: Activation) -> bool:
    return not activation.own and not (activation.relocates and not activation.exists)


def _moved(stale: Sequence[Script], misled: Sequence[Activation], launchers: Launchers, target: Target) -> Finding:
    named = Counter(dirname(dirname(script.interpreter or "")) for script in stale)
    named.update(activation.prefix for activation in misled)
    old = named.most_common(1)[0][0]
    parts = [f"{len(stale)} script{'s' if len(stale) != 1 else ''}"] if stale else []
    parts += [activation.path.rpartition("/")[2] for activation in misled]
    copied = any(script.exists for script in stale) or any(activation.exists for activation in misled)
    return Finding(
        Severity.ERROR,
        target.prefix,
        f"{', '.join(parts)} in {target.prefix}/bin name {old}, "
        + ("which is another environment" if copied else "where the environment no longer is"),
        {
            "named": old,
            "paths": [script.path for script in stale[:SHOWN]],
            "count": len(stale),
            "activate": [activation.path for activation in misled],
            "made_at": launchers.made_at,
        },
        (
            f"make the environment anew from its lock at {target.prefix}",
            *(() if copied else (f"or move it back: mv {quote(target.prefix)} {quote(old)}",)),
        ),
    )


def _stray(script: Script) -> Finding:
    why = f"is another environment's ({script.environment})" if script.exists else "is not there"
    return Finding(
        Severity.WARNING,
        script.path,
        f"{script.path} is run by {script.interpreter}, which {why}",
        {"interpreter": script.interpreter, "exists": script.exists, "environment": script.environment},
        ("reinstall the package that the script belongs to",),
    )
