"""What a resolver wrote, made fit for a lock that others read: pins, hashes and reasons, nothing of this machine.

Layout of the output: pip-tools 7.6.2 and uv 0.13.9, annotation style `split`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from envdoctor.printable import redact

Shown = Callable[[str], str]
"""Path in a comment -> how it may stand in the lock; "" for not at all."""
_VIA = re.compile(r"(    # via|    #  ) (.+)")
_FILE = re.compile(r"(-[rc]) (.+?)( \(.*\))?")
_PRIVATE = re.compile(r"\bfile:/|(?:^|[\s\"'=@])/[\w.]")
_CREDENTIALS = re.compile(r"://[^/\s\"']*@")


def tidy(text: str, shown: Shown) -> str:
    """Return the pins of a resolver's output with their hashes and reasons.

    Options go, since they tell where this machine looked; so do remarks to whoever ran the resolver.
    """
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(("-", "#")) or not line.strip():
            continue
        if match := _VIA.fullmatch(line):
            reason = _reason(match[2], shown)
            lines += [f"{match[1]} {reason}"] if reason else []
        else:
            lines.append(line.rstrip())
    return "".join(f"{line}\n" for line in _joined(lines))


def _reason(said: str, shown: Shown) -> str:
    match = _FILE.fullmatch(said)
    if match is None:
        return said
    path = shown(match[2])
    return f"{match[1]} {path}" if path else ""


def _joined(lines: Iterable[str]) -> Iterator[str]:
    """Write one reason on one line, and drop a list of reasons that has none left."""
    kept = list(lines)
    for at, line in enumerate(kept):
        if line == "    # via":
            count = next((n for n, other in enumerate(kept[at + 1 :]) if not other.startswith("    #   ")), len(kept))
            if count > 1:
                yield line
            elif count == 1:
                yield f"    # via {kept[at + 1].removeprefix('    #   ')}"
        elif not (line.startswith("    #   ") and _alone(kept, at)):
            yield line


def _alone(lines: list[str], at: int) -> bool:
    """Tell whether a reason is the only one of its list."""
    before = lines[at - 1] == "    # via"
    return before and not (at + 1 < len(lines) and lines[at + 1].startswith("    #   "))


def leaks(text: str) -> Iterator[str]:
    """Say which lines hold a path of this machine or a password."""
    for number, line in enumerate(text.splitlines(), 1):
        if _CREDENTIALS.search(line) and "${" not in line:
            yield f"line {number}: holds credentials: {redact(line.strip())[:120]}"
        elif _PRIVATE.search(line):
            yield f"line {number}: holds a path of this machine, which nobody else has: {redact(line.strip())[:120]}"


def seed(pins: Iterable[tuple[str, str]]) -> str:
    """Write pins without hashes, as the old output that a resolver keeps to: hashes are never taken from there."""
    return "".join(f"{name}=={version}\n" for name, version in pins)
