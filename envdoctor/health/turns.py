"""One run at a time for each file of state: what another run is doing, and whether that has lasted too long."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass

from envdoctor.system.shelf import Shelf, ShelfError

MARGIN = 30.0
"""Seconds beyond its deadline after which a run counts as stuck."""
RUN = "/run"
"""Where what is root's alone lies while the machine runs (Filesystem Hierarchy Standard 3.0, 3.15)."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Whether this run may go on."""

    mine: bool
    said: str = ""
    """What another run is doing; if it is ours, why nobody can tell whether there is another."""
    overdue: bool = False


@contextlib.contextmanager
def turn(state: str, deadline: float) -> Iterator[Turn]:
    """Take the turn of a file of state, if nobody has it, and keep it to the end.

    The kernel gives it back when this process ends, however it ends. What cannot be told on this node, for somebody
    has taken the place where it is kept, does not stop a run: the state is safe with two.
    """
    key = hashlib.sha256(os.fsencode(os.path.abspath(state))).hexdigest()
    try:
        shelf = _shelf()
        lock = shelf.locked(key, 0)
    except ShelfError as error:
        yield Turn(mine=True, said=f"whether another run is under way is not known: {error}")
        return
    with lock as held:
        if not held:
            yield _other(shelf.read(key))
            return
        own = {"pid": os.getpid(), "began": _now(), "deadline": deadline}
        with contextlib.suppress(ShelfError):
            shelf.put(key, json.dumps(own).encode())
        yield Turn(mine=True)


def _shelf() -> Shelf:
    """Return the same place for a person and for cron, who has no XDG_RUNTIME_DIR. Raises ShelfError.

    In memory anybody can make what is to be root's before root does; below /run nobody can.
    """
    try:
        return Shelf({})
    except ShelfError:
        if os.geteuid() != 0:
            raise
        return Shelf({"XDG_RUNTIME_DIR": RUN})


def _other(data: bytes | None) -> Turn:
    try:
        found = json.loads(data or b"")
        pid, age, deadline = int(found["pid"]), _now() - float(found["began"]), float(found["deadline"])
    except (ValueError, KeyError, TypeError):
        return Turn(mine=False, said="another run is under way")
    said = f"another run (process {pid}) has been under way for {age:.0f} s"
    if age <= deadline + MARGIN:
        return Turn(mine=False, said=said)
    return Turn(mine=False, said=f"{said}, though its deadline was {deadline:g} s", overdue=True)


def _now() -> float:
    """Return seconds since the machine was started: a clock that is set makes no run older."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
