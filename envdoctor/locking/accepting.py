"""Whether a lock that was just made may take its place."""

from __future__ import annotations

from envdoctor.audit.accepting import audited
from envdoctor.audit.workflow import Asked
from envdoctor.errors import LockError
from envdoctor.system.host import LocalHost


def accepted(path: str) -> list[str]:
    """Return what the audit finds wrong with a lock, errors alone, a line each; empty if it may be used."""
    try:
        return audited(path, Asked(), LocalHost())
    except LockError as error:
        return [f"line {error.line}: {error.problem}" if error.line else error.problem]
