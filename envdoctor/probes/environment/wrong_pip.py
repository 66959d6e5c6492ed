"""A bare `pip install` would not install into the environment that is active.

Why it matters: uv makes environments without pip, and a PATH set by hand or by a later profile can put another pip
first; `pip install` then reports success and changes another Python. Variables such as PIP_TARGET, PIP_USER or
PIP_PYTHON send even the environment's own pip elsewhere.

What to do: install with `python -m pip` or `uv pip install --python`, and unset the variables.
"""

from __future__ import annotations

from collections.abc import Iterable
from os.path import normpath
from shlex import quote

from envdoctor.facts.launchers import Launchers, Tool
from envdoctor.facts.variables import Variables
from envdoctor.model import Finding, Severity, Target

TRUE = frozenset({"y", "yes", "t", "true", "on", "1"})
"""What pip takes for true (pip/_internal/utils/misc.py, strtobool, pip 26.3)."""
PLACES = {"PIP_TARGET": "into", "PIP_PREFIX": "below", "PIP_ROOT": "below", "PIP_PYTHON": "for"}
"""Variables that name another place, and the preposition that fits."""
SWITCHES = ("PIP_USER", "PIP_NO_USER")
"""PIP_NO_USER=1 turns user installs on: pip stores the variable's truth as the option's value (cli/parser.py)."""


def check(launchers: Launchers, variables: Variables, target: Target) -> Iterable[Finding]:
    """Judge a bare pip only where the environment is active; the variables act on its own pip in any case."""
    pip = launchers.tool("pip")
    if launchers.activated and pip is not None and not pip.own:
        yield _other(pip, target)
    for name, preposition in PLACES.items():
        place = variables.get(name)
        if place and not _within(place, target):
            yield _sent(name, place, f"pip installs {preposition} {place}, not into {target.prefix}")
    for name in SWITCHES:
        if variables.get(name).lower() in TRUE:
            yield _sent(name, variables.get(name), f"pip installs into the user site, not into {target.prefix}")


def _within(place: str, target: Target) -> bool:
    """Tell whether a place is the environment; a root of / changes nothing."""
    return normpath(place) in ("/", target.prefix) or normpath(place).startswith(target.prefix + "/")


def _other(pip: Tool, target: Target) -> Finding:
    behind = f"run by {pip.interpreter}" if pip.interpreter else "no script of this environment's Python"
    return Finding(
        Severity.WARNING,
        pip.path,
        f"{target.prefix} is active, but `pip` is {pip.path}, {behind}",
        {"pip": pip.path, "interpreter": pip.interpreter},
        (f"{quote(target.python)} -m pip --version", f"uv pip install --python {quote(target.python)} ..."),
    )


def _sent(name: str, value: str, what: str) -> Finding:
    return Finding(Severity.WARNING, name, f"{name}={value}: {what}", {"value": value}, (f"unset {name}",))
