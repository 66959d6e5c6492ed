"""The line to the doctor: one JSON object an event, on a descriptor of its own, apart from all that torch prints."""

from __future__ import annotations

import json
import os
import time
import traceback
from collections.abc import Iterator
from typing import Any

MESSAGE = 8000
"""Characters of one error's text that are sent."""
LINES = 60
"""Lines of a traceback that are sent, the last ones."""
FRAMES = 12
"""Frames nearest to an error whose variables are looked through for paths."""


class Wire:
    """Where events go."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def begin(self, device: str, step: str) -> None:
        """Say that a step is under way."""
        self._send({"event": "begin", "device": device, "step": step})

    def passed(self, device: str, step: str, began: float, detail: Any) -> None:
        """Say what a step measured."""
        self._end(device, step, "passed", began, detail=detail)

    def failed(self, device: str, step: str, began: float, error: BaseException) -> None:
        """Say how a step failed."""
        self._end(device, step, "failed", began, error=described(error))

    def skipped(self, device: str, step: str, reason: str) -> None:
        """Say that there is nothing to try out."""
        self._end(device, step, "skipped", time.monotonic(), detail={"reason": reason})

    def never(self, device: str, step: str, reason: str) -> None:
        """Say that a step was not begun."""
        self._end(device, step, "never-ran", time.monotonic(), detail={"reason": reason})

    def _end(self, device: str, step: str, state: str, began: float, **more: Any) -> None:
        seconds = round(time.monotonic() - began, 3)
        self._send({"event": "end", "device": device, "step": step, "state": state, "seconds": seconds, **more})

    def _send(self, event: dict[str, Any]) -> None:
        data = (json.dumps(event, default=str) + "\n").encode()
        while data:
            data = data[os.write(self.descriptor, data) :]


def described(error: BaseException) -> dict[str, Any]:
    """Say all of an error that a diagnosis can use."""
    chain = list(_chain(error))
    lines = "".join(traceback.format_exception(type(error), error, error.__traceback__)).splitlines()
    return {
        "type": type(error).__name__,
        "message": str(error)[:MESSAGE],
        "causes": ["%s: %s" % (type(one).__name__, str(one)[:MESSAGE]) for one in chain],
        "traceback": lines[-LINES:],
        "paths": _paths(chain),
    }


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and those behind it, the first cause last."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen and len(seen) < 10:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _paths(chain: list[BaseException]) -> list[str]:
    """Return paths that the code had at hand when it failed, nearest first: few errors name the file they are about."""
    found: list[str] = []
    for error in reversed(chain):
        if isinstance(error, OSError):
            found += [name for name in (error.filename, error.filename2) if isinstance(name, str)]
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][-FRAMES:]
        for frame in reversed(frames):
            values = [value for value in frame.f_locals.values() if isinstance(value, str) and len(value) < 4096]
            found += [value for value in values if value.startswith("/") and os.path.lexists(value)]
    return list(dict.fromkeys(found))[:20]
