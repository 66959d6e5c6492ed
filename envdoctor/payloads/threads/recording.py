"""When threads called what is compiled, and when they traced; imports no torch."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left, bisect_right
from typing import Any

SHOWN = 10
"""Meetings that are told one by one."""


class Recorder:
    """Intervals as (thread, begin, end), in seconds since this object was made."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.calls: list[tuple[int, float, float]] = []
        """Calls of compiled functions."""
        self.traces: list[tuple[int, float, float]] = []
        """Calls of Tracer.trace, those within others too."""

    def now(self) -> float:
        """Return the time."""
        return time.perf_counter() - self.began

    def watch(self, owner: Any) -> None:
        """Record every call of `owner.trace`.

        A list takes what is appended without a lock of its own, so that nobody waits for anybody.
        """
        trace = owner.trace

        def recorded(tracer: Any, *arguments: Any, **options: Any) -> Any:
            began = self.now()
            try:
                return trace(tracer, *arguments, **options)
            finally:
                self.traces.append((threading.get_ident(), began, self.now()))

        owner.trace = recorded

    def call(self, function: Any, *arguments: Any) -> Any:
        """Call what is compiled."""
        began = self.now()
        try:
            return function(*arguments)
        finally:
            self.calls.append((threading.get_ident(), began, self.now()))


def meetings(
    calls: list[tuple[int, float, float]], traces: list[tuple[int, float, float]]
) -> list[tuple[int, float, int]]:
    """Return the calls that began while another thread was tracing, as (caller, begin, tracer), each once."""
    ordered = sorted((began, thread) for thread, began, _ in calls)
    begins = [began for began, _ in ordered]
    met: dict[int, int] = {}
    for tracer, began, ended in traces:
        for at in range(bisect_left(begins, began), bisect_right(begins, ended)):
            if ordered[at][1] != tracer:
                met.setdefault(at, tracer)
    return [(ordered[at][1], begins[at], tracer) for at, tracer in sorted(met.items())]
