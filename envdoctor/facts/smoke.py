"""What a smoke run tried out, as the payload told it line by line; nothing is judged here."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from envdoctor.facts.cache_entries import Damage
from envdoctor.model import TrialState

Level = Literal["quick", "full", "threads"]
STEPS: Mapping[Level, tuple[str, ...]] = {
    "quick": ("device", "arch", "allocate", "matmul", "compile", "flex-attention", "recompile"),
    "full": (
        "device",
        "arch",
        "allocate",
        "matmul",
        "toolchain",
        "compile",
        "flex-attention",
        "half",
        "graphs",
        "recompile",
    ),
    "threads": ("threads",),
}
"""What the first process tries on each device, in order; a second one tries FRESH, but for threads."""
FRESH = "fresh-process"
IMPORT = "torch-import"
"""The step before all others, of no device."""
TORCH = "torch"
"""The subject where the import is at fault."""


@dataclass(frozen=True, slots=True)
class Failure:
    """How a step failed."""

    how: Literal["raised", "died", "hung"]
    type: str = ""
    """Name of the exception's class."""
    message: str = ""
    """The exception's text; how the process ended."""
    causes: tuple[str, ...] = ()
    """`Type: text` of the exception and of those behind it."""
    traceback: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """Paths that the code had at hand when it failed, nearest first."""
    printed: str = ""
    """What the process printed during the step, compilers included: the end of it."""
    stacks: str = ""
    """faulthandler's account of all threads, at a crash or before the kill."""
    left: tuple[int, ...] = ()
    """Processes that survived even SIGKILL, as those do that wait in the kernel."""

    @property
    def error(self) -> str:
        """All that the exception says."""
        return "\n".join((*self.causes, *self.traceback))


@dataclass(frozen=True, slots=True)
class Attempt:
    """One step on one device."""

    device: str
    """`cuda:N`, `cpu`, or `torch` for the import."""
    step: str
    state: TrialState
    seconds: float = 0.0
    detail: Mapping[str, Any] = field(default_factory=dict)
    """What the step measured; `reason` where it was skipped or never ran."""
    failure: Failure | None = None

    @property
    def reason(self) -> str:
        """Why it was skipped or never ran."""
        return str(self.detail.get("reason", ""))

    @property
    def named(self) -> str:
        """The step with its device, for the beginning of a sentence."""
        return self.step if self.device == TORCH else f"{self.device}: {self.step}"

    @property
    def eager(self) -> bool:
        """True if a step that compiles compiled nothing: what it computed then proves nothing."""
        return self.state == "passed" and self.detail.get("compiled") == 0

    @property
    def errors(self) -> dict[str, float]:
        """Relative errors by dtype, where the step measured any."""
        found = self.detail.get("errors")
        return {name: _number(value) for name, value in found.items()} if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class Smoke:
    """All that was tried out in one run."""

    level: Level
    devices: tuple[str, ...]
    attempts: tuple[Attempt, ...] = ()
    build: Mapping[str, Any] = field(default_factory=dict)
    """What the payload said of torch: `torch`, `cuda`, `triton`, `file`, `python`."""
    cache: str = ""
    """Directory of the compile cache that was used."""
    own_cache: bool = True
    """True if the cache was made for this run and thrown away after it."""
    limit: float = 120.0
    """Seconds that any one step was given."""
    damage: Damage | None = None
    """Damaged entries of the cache, looked for after a failure."""

    @property
    def chosen(self) -> str:
        """The words that choose the same devices again, with a blank before them; "" if there were none."""
        names = ",".join(device.removeprefix("cuda:") for device in self.devices)
        return f" --devices {names}" if names else ""

    def of(self, step: str) -> Iterator[Attempt]:
        """Yield what became of a step, device by device."""
        yield from (attempt for attempt in self.attempts if attempt.step == step)


def parse(line: bytes) -> dict[str, Any] | None:
    """Read one event of the payload; None if it is none."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    texts = ("event", "device", "step")
    if not isinstance(event, dict) or not all(isinstance(event.get(key), str) for key in texts):
        return None
    return event if event["event"] in ("begin", "end") else None


def attempted(event: Mapping[str, Any], printed: str) -> Attempt:
    """Turn an `end` event into what became of the step. Raises ValueError if it is not what the payload writes."""
    state = event.get("state")
    if state not in ("passed", "failed", "skipped", "never-ran"):
        raise ValueError(f"an end without a state: {state!r}")
    seconds, detail = _number(event.get("seconds", 0)), event.get("detail", {})
    if not math.isfinite(seconds) or not isinstance(detail, dict):
        raise ValueError("an end with other seconds or details than ours")
    failure = _raised(event.get("error"), printed) if state == "failed" else None
    return Attempt(event["device"] or TORCH, event["step"], state, seconds, detail, failure)


def _raised(error: object, printed: str) -> Failure:
    lists = ("causes", "traceback", "paths")
    if not isinstance(error, dict) or not all(isinstance(error.get(key, []), list) for key in lists):
        raise ValueError("a failure without an error of ours")
    causes, traceback, paths = (tuple(map(str, error.get(key, ()))) for key in lists)
    return Failure(
        "raised", str(error.get("type", "")), str(error.get("message", "")), causes, traceback, paths, printed
    )


def _number(value: object) -> float:
    """Return a number; what is none is NaN, which is within no bound."""
    try:
        return float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return math.inf
