"""Progress of long work on standard error: a line a step, kept up to date on a terminal, or JSON lines."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

from envdoctor.printable import printable, redact, size_of
from envdoctor.progress import Progress

PULSE = 5.0
"""Seconds between two lines of one step where nobody looks at a terminal."""
BLINK = 0.1
"""Seconds between two lines that overwrite each other on one."""
_CLEAR = "\r\033[K"


def json_lines() -> Callable[[Progress], None]:
    """Write every word as an object: `at` (seconds since the start), `step`, `said`, `done`, `total`, `unit`."""
    began = time.monotonic()

    def tell(progress: Progress) -> None:
        said = {"step": progress.step, "said": printable(redact(progress.said)), "done": progress.done}
        more = {"total": progress.total, "unit": progress.unit, "at": round(time.monotonic() - began, 3)}
        sys.stderr.write(json.dumps(said | more) + "\n")
        sys.stderr.flush()

    return tell


def lines() -> Callable[[Progress], None]:
    """Write for people."""
    return _Lines(terminal=sys.stderr.isatty()).tell


class _Lines:
    """One line a step; on a terminal its last line is kept up to date, elsewhere a new one comes now and then."""

    def __init__(self, *, terminal: bool) -> None:
        self.terminal = terminal
        self.began = self.told = time.monotonic()
        self.step = ""
        self.since = self.began

    def tell(self, progress: Progress) -> None:
        """Write what is worth it."""
        now = time.monotonic()
        new = progress.step != self.step
        if new:
            self._end(now)
            self.step, self.since = progress.step, now
        if not new and progress.step != "smoke" and now - self.told < (BLINK if self.terminal else PULSE):
            return
        self.told = now
        text = f"{now - self.began:6.1f} s  {progress.step:8} {_amount(progress)}{printable(redact(progress.said))}"
        sys.stderr.write(f"{_CLEAR}{text[:100]}" if self.terminal else f"{text.rstrip()}\n")
        sys.stderr.flush()

    def _end(self, now: float) -> None:
        """Leave the line of the step before as it is, with how long it took."""
        if self.terminal and self.step:
            sys.stderr.write(f"{_CLEAR}{now - self.began:6.1f} s  {self.step:8} done in {now - self.since:.1f} s\n")


def _amount(progress: Progress) -> str:
    if not progress.unit:
        return ""
    if progress.unit == "bytes":
        whole = f" of {size_of(progress.total)}" if progress.total is not None else ""
        return f"{size_of(progress.done)}{whole}  "
    whole = f" of {progress.total:,}" if progress.total is not None else ""
    return f"{progress.done:,}{whole} {progress.unit}  "
