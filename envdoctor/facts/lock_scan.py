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
_COMMENTED = re.compile(r"^#|\s#")
_WIDE = ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"), (b"\x00\x00\xfe\xff", "UTF-32"))
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
    """Characters and encodings that one tool refuses and another passes over; in comments they harm nothing."""


def collect(target: Target, host: Host, lock: Lock) -> LockScan:  # noqa: ARG001 - every collector has this shape
    """Read the lock and every file of it that holds a pin once more."""
    included = sorted({package.file for package in lock.packages if package.file} - {lock.path})
    toml = lock.format != "requirements"
    scans = [scan(read_bytes(path), "" if path == lock.path else path, toml=toml) for path in (lock.path, *included)]
    return LockScan(
        tuple(address for found in scans for address in found.addresses),
        tuple(problem for found in scans for problem in found.odd),
    )


def scan(data: bytes, file: str, *, toml: bool = False) -> LockScan:
    """Look through one file; in TOML a backslash before a blank is as good as one at the line's end."""
    text, _ = lines.decode(data, file)
    wide = next((name for mark, name in _WIDE if data.startswith(mark)), None)
    said = f"the lock is {wide}: pip and uv read it, most tools that compare or search text do not"
    encoded = (LockProblem(1, said, file, "bad-encoding", mild=True),) if wide else ()
    return LockScan(tuple(_addresses(text, file))[:KEPT], (*encoded, *_odd(text, file, toml=toml)))


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


def _odd(text: str, file: str, *, toml: bool) -> Iterator[LockProblem]:
    body = text.removeprefix("\ufeff")
    for match in _INVISIBLE.finditer(body) if not body.isascii() else ():
        if not _is_commented(body, match.start()):
            line = body.count("\n", 0, match.start()) + 1
            said = f"the lock holds the invisible character U+{ord(match[0]):04X}"
            yield LockProblem(line, said, file, "bad-encoding", match[0])
    for match in _BLANK_AFTER.finditer(body) if not toml else ():
        if not _is_commented(body, match.start()):
            line = body.count("\n", 0, match.start()) + 1
            said = "a line ends in a backslash and a blank, which continues no line"
            yield LockProblem(line, said, file, "bad-encoding", match[0])


def _is_commented(text: str, at: int) -> bool:
    return _COMMENTED.search(text[text.rfind("\n", 0, at) + 1 : at]) is not None
