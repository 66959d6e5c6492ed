"""What a resolver wrote, made fit for a lock that others read: pins, hashes and reasons, nothing of this machine.

Layout of the output: pip-tools 7.6.2 and uv 0.13.9, annotation style `split`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from envdoctor.printable import redact

Shown = Callable[[str], str]
"""Path in a comment -> how it may stand in the lock; "" for not at all."""
_VIA = re.compile(r"    # (?:via(?: (.+))?|  (.+))")
_FILE = re.compile(r"(-[rc]) (.+?)( \(.*\))?")
_PRIVATE = re.compile(r"\bfile:/|(?:^|[\s\"'=@])/[\w.]")
_CREDENTIALS = re.compile(r"://[^/\s\"']*@")


def tidy(text: str, shown: Shown) -> str:
    """Return the pins of a resolver's output with their hashes and reasons.

    Options go, since they tell where this machine looked; so do remarks to whoever ran the resolver.
    """
    lines: list[str] = []
    reasons: list[str] = []
    for line in text.splitlines():
        match = _VIA.fullmatch(line)
        if match is not None:
            said = match[1] or match[2]
            reasons += _reason(said, shown) if said else []
        elif line.strip() and not line.startswith(("-", "#")):
            lines += [*_via(reasons), line.rstrip()]
            reasons = []
    return "".join(f"{line}\n" for line in [*lines, *_via(reasons)])


def _reason(said: str, shown: Shown) -> list[str]:
    match = _FILE.fullmatch(said)
    if match is None:
        return [said]
    path = shown(match[2])
    return [f"{match[1]} {path}"] if path else []


def _via(reasons: list[str]) -> list[str]:
    """Write who asks for a pin: one on the line itself, several below it."""
    if len(reasons) > 1:
        return ["    # via", *(f"    #   {reason}" for reason in reasons)]
    return [f"    # via {reason}" for reason in reasons]


def blocks(text: str) -> dict[str, str]:
    """Return the lines of each pin by its name, of what `tidy` returns."""
    found = re.split(r"(?m)^(?=[A-Za-z0-9])", text)
    return {block.partition("==")[0]: block for block in found if block}


def leaks(text: str) -> Iterator[str]:
    """Say which lines hold a path of this machine or a password."""
    for number, line in enumerate(text.splitlines(), 1):
        if (_CREDENTIALS.search(line) or redact(line) != line) and "${" not in line:
            yield f"line {number}: holds credentials: {redact(line.strip())[:120]}"
        elif _PRIVATE.search(line):
            yield f"line {number}: holds a path of this machine, which nobody else has: {redact(line.strip())[:120]}"


def seed(pins: Iterable[tuple[str, str]]) -> str:
    """Write pins without hashes, as the old output that a resolver keeps to: hashes are never taken from there."""
    return "".join(f"{name}=={version}\n" for name, version in pins)
