"""Options -> one workflow -> render -> exit status, a file a command. Nothing is decided here but what a default is."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from typing import Any, NoReturn, TextIO, cast

from envdoctor.cli import (  # noqa: F401 - each has its commands
    cache,
    cache_status,
    check,
    compare,
    freeze,
    health,
    history,
    lock_audit,
    lock_compare,
    lock_compile,
    observe,
    rebuild,
    report,
    run,
    smoke,
    teach,
    warm,
    wheelhouse,
)
from envdoctor.cli.application import FAILED, INTERRUPTED, app


class Unheard:
    """A stream of which nobody may be listening any more: a full disk or a closed pipe changes no report or status."""

    def __init__(self, stream: Any) -> None:  # noqa: ANN401 - any text stream
        self.stream = stream

    def write(self, text: str) -> int:
        """Write if it can be written."""
        with contextlib.suppress(OSError):
            self.stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush if it can be flushed."""
        with contextlib.suppress(OSError, ValueError):
            self.stream.flush()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self.stream, name)


def _open_streams() -> None:
    """Let no character stop a report; one that nobody wants (`>&-`, where Python has no stream) goes nowhere."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open to the end
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.stderr = cast("TextIO", Unheard(sys.stderr))


def _leave(number: int, _: object) -> NoReturn:
    """End on a signal as on an error: children are ended and temporary directories removed on the way out."""
    raise SystemExit(128 + number)


def main() -> NoReturn:
    """Run the command line and leave at once: a child that hangs in the kernel must not hold up the exit."""
    gc.disable()  # a run lives for a fraction of a second
    _open_streams()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_DFL:  # nohup's choice stays
            signal.signal(number, _leave)
    status: Any = 0
    try:
        app()
    except SystemExit as left:
        status = left.code
    except KeyboardInterrupt:
        status = INTERRUPTED
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        pass
    os._exit(status if isinstance(status, int) else FAILED if status else 0)
