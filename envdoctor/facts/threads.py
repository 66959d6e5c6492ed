"""What threads that compiled and trained at once came to, try by try, as the payload told it; nothing is judged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from envdoctor.facts.smoke import Failure

STEP = "threads"
State = Literal["cold", "partly", "warm"]
STATES: tuple[State, ...] = ("cold", "partly", "warm")
"""What the compile cache holds: nothing, what the first device needs, what all need."""
Remedy = Literal["none", "guard", "force", "barrier"]
Start = Literal["together", "in turn", "held"]
"""In turn: a thread begins when the one before is well past its first passes; held: by the barrier of that remedy."""
REMEDIES: tuple[Remedy, ...] = ("none", "guard", "force", "barrier")
LEAST_STEPS = 40
"""Steps that each thread makes at least."""
CPU_GRAPHS = 3
"""Graphs on a CPU, each standing for a device: a key of its own in the compile cache, as each GPU has."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How a race is set up."""

    per_device: int
    """Threads on each device."""
    state: State

    @property
    def name(self) -> str:
        """As a finding's subject says it."""
        threads = f"{self.per_device} thread{'s' if self.per_device > 1 else ''} a device"
        return f"{threads}, {'partly warm' if self.state == 'partly' else self.state} cache"


@dataclass(frozen=True, slots=True)
class Thread:
    """One thread of a try."""

    device: str
    steps: int
    type: str = ""
    """Name of the exception's class that ended it; "" if it came to its end."""
    message: str = ""

    @property
    def error(self) -> str:
        """What ended it, "" if nothing did."""
        return ": ".join(part for part in (self.type, self.message) if part)


@dataclass(frozen=True, slots=True)
class Told:
    """What the process told at the end of a try."""

    threads: tuple[Thread, ...]
    calls: int
    """Calls of compiled functions."""
    traces: int
    """Calls of Tracer.trace."""
    meetings: int
    """Compiled calls of one thread that began while another one traced."""
    flag_shared: bool
    """True if a thread saw that another one traced."""
    flag_left: bool
    """True if torch still said that something traces when all threads had ended."""
    again: tuple[str, ...] = ()
    """Errors of one more call of each function, one after the other."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """Distance from eager by dtype, relative, in the Euclidean norm."""
    counters: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Of the compile caches."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """For people: `errors` with their tracebacks, `met`, and `compiles`, each as (begin, end) in seconds."""


@dataclass(frozen=True, slots=True)
class Try:
    """One process with all its threads."""

    setting: Setting
    number: int
    """From 1."""
    start: Start
    seconds: float
    told: Told | None = None
    """None if it did not come to its end."""
    failure: Failure | None = None
    """How it ended instead."""
    started: float = 0.0
    """Seconds that its process took before, for its start and the import of torch."""


@dataclass(frozen=True, slots=True)
class Race:
    """All tries of one run."""

    settings: tuple[Setting, ...]
    tries: int
    """How many of each were asked for."""
    remedy: Remedy = "none"
    done: tuple[Try, ...] = ()
    lost: Mapping[Setting, tuple[str, bool]] = field(default_factory=dict)
    """Setting -> why it was not tried, and whether that is a failure to do what was asked for."""
    flag: str = ""
    """Whose the FX-tracing flag is, as facts/fx_flag.py has it; "" where that could not be read."""
    limit: float = 120.0
    """Seconds that each try was given."""

    def of(self, setting: Setting) -> tuple[Try, ...]:
        """Return the tries of a setting."""
        return tuple(item for item in self.done if item.setting == setting)


def told(detail: Mapping[str, Any]) -> Told:
    """Read what the payload measured. Raises ValueError if it is not what the payload writes."""
    try:
        return Told(
            tuple(_thread(item) for item in detail["threads"]),
            _count(detail["calls"]),
            _count(detail["traces"]),
            _count(detail["meetings"]),
            detail["flag_shared"] is True,
            detail["flag_left"] is True,
            tuple(map(str, detail["again"])),
            {str(dtype): float(figure) for dtype, figure in detail["figures"].items()},
            {str(group): _counted(counted) for group, counted in detail["counters"].items()},
            _evidence(detail),
        )
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"an end of a race without {error}") from error


def _evidence(detail: Mapping[str, Any]) -> dict[str, Any]:
    errors = [
        {"error": f"{item['type']}: {item['message']}", "traceback": list(map(str, item["traceback"]))}
        for item in detail["errors"]
    ]
    met = [f"{item['caller']} called at {_time(item['at'])} s, {item['tracer']} traced" for item in detail["met"]]
    return {
        "errors": errors,
        "met": met,
        "compiles": [[_time(began), _time(ended)] for began, ended in detail["compiles"]],
    }


def _time(value: object) -> float:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"no time: {value!r:.40}")
    return value


def _thread(item: Mapping[str, Any]) -> Thread:
    return Thread(str(item["device"]), _count(item["steps"]), str(item["type"]), str(item["message"]))


def _counted(counted: Mapping[str, Any]) -> dict[str, int]:
    return {str(name): _count(count) for name, count in counted.items()}


def _count(value: object) -> int:
    if not isinstance(value, int) or not 0 <= value < 1 << 40:
        raise ValueError(f"no count: {value!r:.40}")
    return value
