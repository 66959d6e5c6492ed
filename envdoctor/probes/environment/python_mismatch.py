"""The interpreter that runs is not the one the environment was made for, locked for or sealed with.

Why it matters: packages lie in lib/pythonX.Y/site-packages and compiled modules carry the minor version in their names,
so another minor version sees an empty environment. Another patch release works, but is not what was tested, and what
was compiled and cached for the old one is stale. A lock's requires-python that excludes the interpreter means that its
pins were never resolved for it.

What to do: make the environment anew from its lock with the recorded version, or put that version back.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from envdoctor.facts.interpreter import Interpreter
from envdoctor.facts.seal import Seal
from envdoctor.facts.startup import Startup
from envdoctor.model import Finding, Lock, Severity, Unavailable


class Reason(NamedTuple):
    """One way in which the interpreter is not the expected one."""

    severity: Severity
    text: str


def check(
    interpreter: Interpreter, startup: Startup | Unavailable, lock: Lock | Unavailable, seal: Seal | Unavailable
) -> Iterable[Finding]:
    """Gather all reasons into one finding about the interpreter."""
    running = interpreter.version
    if running is None:
        return
    sealed = None if isinstance(seal, Unavailable) else seal.python_version
    required = None if isinstance(lock, Unavailable) else lock.requires_python
    reasons = [
        *_differs(running, interpreter.recorded_version, "the environment was made with"),
        *_differs(running, sealed, "the seal was taken with", exact=True),
        *_excluded(running, required),
        *([] if isinstance(startup, Unavailable) or interpreter.kind == "prefix" else _unread(startup)),
    ]
    if reasons:
        yield Finding(
            max(reason.severity for reason in reasons),
            interpreter.python,
            f"Python {running} runs, but {'; '.join(reason.text for reason in reasons)}",
            {
                "version": running,
                "recorded": interpreter.recorded_version,
                "sealed": sealed,
                "requires_python": required,
                "unread": [] if isinstance(startup, Unavailable) else [s.path for s in startup.sites if not s.read],
            },
            ("make the environment anew from its lock, with the Python that it was made for",),
        )


def _differs(running: str, expected: str | None, what: str, *, exact: bool = False) -> list[Reason]:
    """Compare versions as PEP 440 does.

    Not `exact`: an expected final version fits its pre-releases, for venv records 3.14.0rc2 as 3.14.0 (Lib/venv).
    """
    from packaging.version import InvalidVersion, Version

    try:
        now, then = Version(running), Version(expected or running)
    except InvalidVersion:
        return []
    if now == then or (not exact and not then.is_prerelease and now.release == then.release):
        return []
    if now.release[:2] != then.release[:2]:
        return [Reason(Severity.ERROR, f"{what} {expected}, whose packages another minor version does not see")]
    return [Reason(Severity.WARNING, f"{what} {expected}")]


def _excluded(running: str, required: str | None) -> list[Reason]:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion

    try:
        if SpecifierSet(required or "").contains(running, prereleases=True):
            return []
    except (InvalidSpecifier, InvalidVersion):
        return []
    return [Reason(Severity.ERROR, f"the lock requires {required}")]


def _unread(startup: Startup) -> list[Reason]:
    """Speak of packages in a directory of another minor version: an error if most of the environment lies there."""
    held = sum(site.distributions for site in startup.sites if site.read)
    return [
        Reason(
            Severity.ERROR if site.distributions > held else Severity.WARNING,
            f"{site.distributions} distributions lie in {site.path}, which it does not read",
        )
        for site in startup.sites
        if not site.read and site.distributions
    ]
