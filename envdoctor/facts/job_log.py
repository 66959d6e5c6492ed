"""The log of a failed run that the caller named: which known failures it shows. Read as a stream, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from envdoctor import signatures
from envdoctor.errors import UsageError
from envdoctor.facts.traces import Trace, Tracer
from envdoctor.model import Target, Unavailable
from envdoctor.signatures import Match
from envdoctor.system.host import Host
from envdoctor.system.reading import blocks

PACKED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
"""Beginnings of compressed files: RFC 1952, RFC 8878, the bzip2 and the .xz file format."""
_PEEK = 8000
"""Bytes in which a NUL means that this is no text; git looks at as many. Leading ones are what truncation leaves."""


@dataclass(frozen=True, slots=True)
class JobLog:
    """What a log shows."""

    path: str
    size: int
    """Bytes that were looked at."""
    matches: tuple[Match, ...] = ()
    """In the order of lines."""
    trace: Trace | None = None
    """The last traceback, if no known failure shows."""

    def place(self, match: Match) -> str:
        """Return where a match is, as `train.log:123`."""
        return f"{os.path.basename(self.path)}:{match.line}"


def collect(target: Target, host: Host) -> JobLog | Unavailable:  # noqa: ARG001 - each fact is asked for alike
    """Search it. Raises UsageError if it cannot be read, is no regular file or no text: the caller named it.

    An empty log shows nothing, which is not to say that nothing failed: the doctor has not done what it was asked for.
    """
    if target.log is None:
        return Unavailable("no log was named (--log)")
    sizes: list[int] = []
    tracer = Tracer()
    try:
        matches = signatures.found(tracer.watch(_measured(_text(blocks(target.log)), sizes)))
    except OSError as error:
        raise UsageError(f"--log: {target.log}: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(f"--log: {target.log}: {error}") from error
    if not any(sizes):
        return Unavailable(f"the log is empty: {target.log}", failed=True)
    return JobLog(target.log, sum(sizes), matches, None if matches else tracer.last())


def _text(found: Iterator[bytes]) -> Iterable[bytes]:
    """Return the blocks of a text. Raises ValueError if their beginning is none."""
    beginning = next(found, b"")
    packed = next((kind for mark, kind in PACKED.items() if beginning.startswith(mark)), None)
    if packed is not None:
        raise ValueError(f"is compressed ({packed}); unpack it first")
    start = beginning.lstrip(b"\0")[:_PEEK]
    if _is_utf_16(start):
        raise ValueError("is not text (UTF-16?): convert it with iconv -f utf-16 -t utf-8")
    if b"\0" in start:
        raise ValueError("is not text")
    return chain([beginning], found)


def _is_utf_16(start: bytes) -> bool:
    """Tell whether every second byte is NUL, as Latin letters have it there: most of them, and none of the others."""
    halves = [half.count(0) for half in (start[::2], start[1::2])]
    return len(start) > 3 and min(halves) == 0 and max(halves) > len(start) * 3 // 8


def _measured(found: Iterable[bytes], sizes: list[int]) -> Iterator[bytes]:
    for block in found:
        sizes.append(len(block))
        yield block
