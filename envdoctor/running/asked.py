"""What the caller of `run` wants done."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from envdoctor import workflows
from envdoctor.model import Severity


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller wants done before the command starts."""

    command: tuple[str, ...]
    keep: tuple[str, ...] = ()
    guard: str | None = None
    check: bool = True
    fail_on: Severity = Severity.ERROR
    reuse: timedelta | None = None
    deadline: float = workflows.DEADLINE
    warm: str | None = None
    """A function that warms the cache first, `pkg.mod:function`."""
    devices: str | None = None
    """Those to be warmed, as --devices writes it."""
    state: bool = True
    """False to write nothing outside."""
