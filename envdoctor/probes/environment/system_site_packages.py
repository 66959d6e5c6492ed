"""The environment also reads the system's site-packages.

Why it matters: whatever the system's package manager or another user installs becomes part of the job, a version that
the environment does not hold is taken from there, and one that it does hold silently hides the system's build. The
switch also turns the user site (~/.local) on again, which a venv otherwise ignores.

What to do: make the environment anew from its lock without --system-site-packages; if a package of the system is
wanted, pin its exact version in the lock.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.interpreter import Interpreter
from envdoctor.model import Finding, Severity, Target


def check(interpreter: Interpreter, target: Target) -> Iterable[Finding]:
    """Speak of a venv whose pyvenv.cfg says so; other kinds of prefix have no such switch."""
    if interpreter.kind != "venv" or not interpreter.system_site:
        return
    config = f"{target.prefix}/pyvenv.cfg"
    base = interpreter.base_prefix or "the base interpreter"
    yield Finding(
        Severity.WARNING,
        config,
        f"include-system-site-packages is on: packages of {base} are read as well, and so is the user site",
        {"base_prefix": interpreter.base_prefix, "include-system-site-packages": True},
        (
            "make the environment anew from its lock without --system-site-packages",
            f"or set include-system-site-packages = false in {config} and run envdoctor check again",
        ),
    )
