"""The stacks of all threads as faulthandler writes them: who waits for whom; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_BLANK = re.compile(r"\n\s*\n")
_FRAME = re.compile(r'File "([^"\n]*)", line (\d+) in (.+)')
ENGINE = ("torch/autograd/graph.py", "_engine_run_backward")
"""Where a thread waits for autograd's own threads (torch 2.9 to 2.15)."""
BACKWARD = ("torch/_inductor/compile_fx.py", "compile_fx_backward")
"""Where a backward graph that was left for later is compiled, under dynamo's lock (torch 2.11.0: line 2418)."""
DYNAMO = "torch/_dynamo/"
"""What compiles holds dynamo's lock, and has frames of these files."""
NEAR = 3
"""Innermost frames among which that of a wait is looked for."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of a stack."""

    path: str
    line: int
    function: str

    def __str__(self) -> str:
        """Return it as it is shown."""
        return f"{self.path}:{self.line} in {self.function}"

    def is_at(self, place: tuple[str, str]) -> bool:
        """Tell whether it is of this file and function."""
        return self.path.endswith(f"/{place[0]}") and self.function == place[1]


@dataclass(frozen=True, slots=True)
class Deadlock:
    """Two threads that wait for each other, the innermost frame first."""

    holder: tuple[Frame, ...]
    """Has dynamo's lock, and waits for autograd's thread."""
    waiter: tuple[Frame, ...]
    """Is autograd's thread, and waits for the lock."""


def threads(text: str) -> tuple[tuple[Frame, ...], ...]:
    """Return the frames of each thread, the innermost first; threads without any are left out."""
    found = (
        tuple(Frame(path, int(line[:9]), function.strip()) for path, line, function in _FRAME.findall(block))
        for block in _BLANK.split(text)
    )
    return tuple(frames for frames in found if frames)


def deadlock(text: str) -> Deadlock | None:
    """Recognise the deadlock of dynamo's compile lock with a backward graph that is compiled late.

    One thread traces flex_attention's joint graph: it holds the lock and waits in the autograd engine for the thread
    that works for its device. That one runs another thread's backward pass, has to compile it, and waits for the lock.
    """
    stacks = threads(text)
    holder = next((frames for frames in stacks if _near(frames, ENGINE) and _compiles(frames)), None)
    waiter = next((frames for frames in stacks if frames[0].is_at(BACKWARD)), None)
    return Deadlock(holder, waiter) if holder and waiter else None


def _near(frames: Sequence[Frame], place: tuple[str, str]) -> bool:
    return any(frame.is_at(place) for frame in frames[:NEAR])


def _compiles(frames: Sequence[Frame]) -> bool:
    """Tell whether it is within a compile; faulthandler tells a hundred frames, the outermost may be missing."""
    return any(f"/{DYNAMO}" in frame.path and not frame.path.endswith("/eval_frame.py") for frame in frames)
