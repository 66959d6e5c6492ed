"""Progress of long work on standard error: a line a step, kept up to date on a terminal, or JSON lines."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator

import typer

from envdoctor.errors import EnvDoctorError
from envdoctor.printable import clean, printable, redact, size_of
from envdoctor.progress import Progress, silent

PULSE = 5.0
"""Seconds between two lines of one step where nobody looks at a terminal."""
BLINK = 0.1
"""Seconds between two lines that overwrite each other on one."""
_CLEAR = "\r\033[K"


@contextlib.contextmanager
def silence() -> Iterator[Callable[[Progress], None]]:
    """Write nothing."""
    yield silent


@contextlib.contextmanager
def json_lines() -> Iterator[Callable[[Progress], None]]:
    """Write every word as an object: `at` (seconds since the start), `step`, `said`, `done`, `total`, `unit`.

    What failed is the last one: `failed` (the step), `said`, `details`, `advice` and the exit `status`.
    """
    began = time.monotonic()

    def tell(progress: Progress) -> None:
        said = {"step": progress.step, "said": printable(redact(progress.said)), "done": progress.done}
        more = {"total": progress.total, "unit": progress.unit, "at": round(time.monotonic() - began, 3)}
        sys.stderr.write(json.dumps(said | more) + "\n")
        sys.stderr.flush()

    try:
        yield tell
    except EnvDoctorError as error:
        failed = {"failed": getattr(error, "step", ""), "said": printable(redact(str(error)))}
        told = {name: getattr(error, name) for name in ("details", "advice") if hasattr(error, name)}
        sys.stderr.write(json.dumps(clean({**failed, **told, "status": error.status})) + "\n")
        raise typer.Exit(error.status) from None


@contextlib.contextmanager
def lines() -> Iterator[Callable[[Progress], None]]:
    """Write for people; whatever ends it, the last line is left whole."""
    told = _Lines(terminal=sys.stderr.isatty())
    try:
        yield told.tell
    finally:
        told.end()


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
        columns = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"{_CLEAR}{text[:columns]}" if self.terminal else f"{text.rstrip()}\n")
        sys.stderr.flush()

    def end(self) -> None:
        """Leave the last line as it is."""
        self._end(time.monotonic())
        self.step = ""

    def _end(self, now: float) -> None:
        """Leave the line of the step before, with how long it took."""
        if self.step:
            start = _CLEAR if self.terminal else ""
            sys.stderr.write(f"{start}{now - self.began:6.1f} s  {self.step:8} done in {now - self.since:.1f} s\n")
            sys.stderr.flush()


def _amount(progress: Progress) -> str:
    if not progress.unit:
        return ""
    if progress.unit == "bytes":
        whole = f" of {size_of(progress.total)}" if progress.total is not None else ""
        return f"{size_of(progress.done)}{whole}  "
    whole = f" of {progress.total:,}" if progress.total is not None else ""
    return f"{progress.done:,}{whole} {progress.unit}  "
