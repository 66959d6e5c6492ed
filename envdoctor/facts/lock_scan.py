"""The lock's own text, and that of its includes, for what a reader of pins passes over: addresses, odd characters.

Nothing secret leaves this file: of a password only that there is one is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from envdoctor.locks import lines
from envdoctor.locks.files import read_bytes
from envdoctor.model import Lock, LockProblem, Target
from envdoctor.system.host import Host

_ADDRESS = re.compile(
    r"\b((?:git|hg|svn|bzr)\+)?(https?|ssh|ftp|file)://([^\s/\"'<>,;\]})#]*@)?([^\s/\"'<>,;\]})#@?]*)([^\s\"'<>,;\]})]*)"
)
_VARIABLE = re.compile(r"\$\{[A-Z0-9_]+\}|\$[A-Z_]+|%\w+%")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
"""Soft hyphen, zero-width characters, marks of direction: they change a name and show nowhere."""
_BLANK_AFTER = re.compile(r"\\[ \t]+$", re.MULTILINE)
KEPT = 2000
"""Different addresses of one lock."""


@dataclass(frozen=True, slots=True)
class Address:
    """One host that a lock names, with what stands before it; the first place of it."""

    scheme: str
    """`https`, `git+https`, `http`, `file` ..."""
    host: str
    """With its port."""
    path: str
    """As first written, without query and fragment."""
    secret: str
    """`plain` for a name or password before the host, `variable` for one that a `${VAR}` holds, "" for none."""
    line: int
    file: str = ""
    """Of an include; "" for the lock itself."""
    commented: bool = False
    """True if it stands in comments alone."""
    count: int = 1
    """How many addresses begin like this."""


@dataclass(frozen=True, slots=True)
class LockScan:
    """What was seen."""

    addresses: tuple[Address, ...] = ()
    odd: tuple[LockProblem, ...] = ()
    """Characters that one tool refuses and another passes over."""


def collect(target: Target, host: Host, lock: Lock) -> LockScan:  # noqa: ARG001 - every collector has this shape
    """Read the lock and every file of it that holds a pin once more."""
    included = sorted({package.file for package in lock.packages if package.file} - {lock.path})
    scans = [scan(read_bytes(path), "" if path == lock.path else path) for path in (lock.path, *included)]
    return LockScan(
        tuple(address for found in scans for address in found.addresses),
        tuple(problem for found in scans for problem in found.odd),
    )


def scan(data: bytes, file: str) -> LockScan:
    """Look through one file."""
    text, _ = lines.decode(data, file)
    return LockScan(tuple(_addresses(text, file))[:KEPT], tuple(_odd(text, file)))


def _addresses(text: str, file: str) -> Iterator[Address]:
    found: dict[tuple[str, str, str, bool], list[re.Match[str]]] = {}
    for match in _ADDRESS.finditer(text):
        begins = text.rfind("\n", 0, match.start()) + 1
        commented = "#" in text[begins : match.start()]
        scheme = f"{match[1] or ''}{match[2]}"
        found.setdefault((scheme, match[4], _secret(match[3] or ""), commented), []).append(match)
    for (scheme, host, secret, commented), matches in found.items():
        first = matches[0]
        line = text.count("\n", 0, first.start()) + 1
        path = re.split(r"[?#]", first[5], maxsplit=1)[0]
        yield Address(scheme, host, path, secret, line, file, commented, len(matches))


def _secret(user: str) -> str:
    """Tell what stands before the host; `git@` is no secret, it is how ssh is told whom to be."""
    if user in ("", "git@", "@"):
        return ""
    return "variable" if not _VARIABLE.sub("", user.rstrip("@")).strip(":") else "plain"


def _odd(text: str, file: str) -> Iterator[LockProblem]:
    for match in _INVISIBLE.finditer(text.removeprefix("\ufeff")):
        line = text.count("\n", 0, match.start()) + 1
        said = f"holds the invisible character U+{ord(match[0]):04X}"
        yield LockProblem(line, said, file, "bad-encoding", match[0])
    for match in _BLANK_AFTER.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield LockProblem(line, "ends in a backslash and a blank, which continues no line", file, "bad-encoding", "\\ ")
