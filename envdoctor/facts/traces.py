"""The last traceback in a log, found while the log is read for something else. Pure, in bounded memory."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from envdoctor.printable import redact
from envdoctor.signatures import shortened, uncoloured

MARK = b"Traceback (most recent call last):"
LONGEST = 64 << 10
"""Bytes of one traceback, and of a line, that are looked at."""
LAST = 8
"""Tracebacks that are kept, as the last ones may be a launcher's."""
LAUNCHER = "ChildFailedError"
"""What torchrun raises after a worker has: its own traceback tells nothing."""
_FRAME = re.compile(r'\s+File "([^"\n]{1,4096})", line ([0-9]{1,9})')
_RAISED = re.compile(r"[A-Za-z_][\w.]{0,200}(?::\s|:?\Z)")


@dataclass(frozen=True, slots=True)
class Trace:
    """Where a program stopped, by its own words."""

    line: int
    """Line of the log on which the traceback begins."""
    raised: str
    """Its last line: the exception, without secrets, shortened."""
    place: str
    """`FILE:LINE` of the innermost frame, without secrets; "" if none is told."""


class Tracer:
    """Looks at the blocks of a log as they pass."""

    def __init__(self) -> None:
        """Begin before the first line."""
        self._kept: deque[tuple[int, bytearray]] = deque(maxlen=LAST)
        self._rest = b""
        self._passed = 0

    def watch(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Pass the blocks of a log on."""
        for block in blocks:
            whole = self._rest + block
            end = whole.rfind(b"\n") + 1
            self._rest = whole[end:][-LONGEST:]
            self._look(whole[:end])
            yield block
        self._look(self._rest)

    def last(self) -> Trace | None:
        """Return the last traceback, one of a launcher only if there is no other."""
        traces = [trace for trace in (_read(line, bytes(text)) for line, text in self._kept) if trace is not None]
        own = [trace for trace in traces if LAUNCHER not in trace.raised]
        return next(reversed(own or traces), None)

    def _look(self, lines: bytes) -> None:
        start = counted = 0
        at = lines.find(MARK)
        while at >= 0:
            begin = lines.rfind(b"\n", start, at) + 1 or start
            self._extend(lines[start:begin])
            self._passed += lines.count(b"\n", counted, begin)
            counted = start = begin
            after = at + len(MARK)
            self._kept.append((self._passed + 1, bytearray(lines[begin:after])))
            start, at = after, lines.find(MARK, after)
        self._extend(lines[start:])
        self._passed += lines.count(b"\n", counted)

    def _extend(self, text: bytes) -> None:
        if self._kept:
            kept = self._kept[-1][1]
            kept += text[: max(0, LONGEST - len(kept))]


def _read(line: int, text: bytes) -> Trace | None:
    """Read the frames and the exception; each line may begin with what a launcher puts there, as `[rank0]: `."""
    first, *lines = uncoloured(text).decode(errors="replace").splitlines() or [""]
    prefix = first[: first.index(MARK.decode())] if MARK.decode() in first else ""
    if not (lines and lines[0].startswith(prefix)):
        prefix = ""
    place = ""
    for found in (found.removeprefix(prefix) for found in lines if found.startswith(prefix)):
        frame = _FRAME.match(found)
        if frame is not None:
            place = f"{frame[1]}:{frame[2]}"
        elif _RAISED.match(found):
            return Trace(line, shortened(redact(found).strip()), redact(place))
        elif found.strip() and not found[0].isspace():
            return None
    return None
