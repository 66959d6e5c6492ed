"""The lock's own text, and that of its includes, for what a reader of pins passes over.

That is addresses with secrets, what pip-compile left out, odd characters.

Nothing secret leaves this file: of a password only that there is one is kept.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from envdoctor.locks import lines
from envdoctor.locks.files import read_bytes
from envdoctor.model import Lock, LockProblem, Target
from envdoctor.printable import USER, redact
from envdoctor.system.host import Host

_ADDRESS = re.compile(
    rf"\b((?:git|hg|svn|bzr)\+)?(https?|ssh|ftp|file)://({USER})?([^\s/\"'<>,;\]}})#@?]*)((?:\$\{{\w+\}}|[^\s\"'<>,;\]}})])*)"
)
_SCHEMELESS = re.compile(
    r"^[ \t]*(?:-i|-f|--(?:extra-)?index-url|--find-links|--trusted-host)[ \t=]+([^\s/@]+)@([^\s/@]*)", re.MULTILINE
)
"""An address whose `https://` somebody forgot."""
_VARIABLE = re.compile(r"\$\{[A-Z0-9_]+\}|\$[A-Z_]+|%\w+%")
_USERS = frozenset(("git", "hg", "aws", "oauth2", "oauth2accesstoken", "__token__", "vsssessiontoken"))
"""Names by which a host is told whom to ask for a password: no secret. pip and uv look that up (keyring, netrc)."""
_LEFT_OUT = re.compile(
    r"^# (?:WARNING: The following packages were not pinned, but pip requires them to be"
    r"|The following packages are considered to be unsafe in a requirements file:)\r?$\n?(?P<rest>(?:^#.*$\n?)*)",
    re.MULTILINE,
)
"""pip-tools 7.6.2, piptools/writer.py: with hashes and without --allow-unsafe the first, or else the second."""
_NAMED = re.compile(r"^# ([A-Za-z0-9][\w.-]*)[ \t]*\r?$", re.MULTILINE)
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
    """`plain` for a password or token, `variable` for one that a `${VAR}` holds, `user` for a name that is likely none,
    "" for nothing of the kind. Each of those is an entry of its own."""
    line: int
    file: str = ""
    """Of an include; "" for the lock itself."""
    commented: bool = False
    """True if it stands in comments alone."""
    count: int = 1
    """How many addresses begin like this."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Packages that a comment of pip-compile names as not pinned."""

    names: tuple[str, ...]
    """As written; none if the comment is not followed by any."""
    warned: bool
    """True if it says that pip will miss them."""
    text: str
    """The comment's first line."""
    line: int
    file: str = ""


@dataclass(frozen=True, slots=True)
class LockScan:
    """What was seen."""

    addresses: tuple[Address, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    odd: tuple[LockProblem, ...] = ()
    """Characters and encodings that one tool refuses and another passes over; in comments they harm nothing."""


def collect(target: Target, host: Host, lock: Lock) -> LockScan:  # noqa: ARG001 - every collector has this shape
    """Read the lock and every file of it that holds a pin once more."""
    included = sorted({package.file for package in lock.packages if package.file} - {lock.path})
    toml = lock.format != "requirements"
    scans = [scan(read_bytes(path), "" if path == lock.path else path, toml=toml) for path in (lock.path, *included)]
    return LockScan(
        tuple(address for found in scans for address in found.addresses),
        tuple(block for found in scans for block in found.left_out),
        tuple(problem for found in scans for problem in found.odd),
    )


def scan(data: bytes, file: str, *, toml: bool = False) -> LockScan:
    """Look through one file; in TOML a backslash before a blank is as good as one at the line's end."""
    text, _ = lines.decode(data, file)
    wide = next((name for mark, name in _WIDE if data.startswith(mark)), None)
    said = f"the lock is {wide}: pip and uv read it, most tools that compare or search text do not"
    encoded = (LockProblem(1, said, file, "bad-encoding", mild=True),) if wide else ()
    addresses = (*_addresses(text, file), *_schemeless(text, file))
    odd = (*encoded, *_odd(text, file, toml=toml))
    return LockScan(addresses[:KEPT], tuple(_left_out(text, file)), odd)


class _Lines:
    """Numbers of the lines of a text."""

    def __init__(self, text: str) -> None:
        self.ends = [match.start() for match in re.finditer("\n", text)]

    def of(self, at: int) -> int:
        """Return the line of a character, from 1."""
        return bisect_left(self.ends, at) + 1


def _addresses(text: str, file: str) -> Iterator[Address]:
    lines_of = _Lines(text)
    found: dict[tuple[str, str, str, bool, int], list[re.Match[str]]] = {}
    for match in _ADDRESS.finditer(text):
        begins = text.rfind("\n", 0, match.start()) + 1
        commented = "#" in text[begins : match.start()]
        scheme = f"{match[1] or ''}{match[2]}"
        secret = _secret((match[3] or "")[:-1], match[5], ssh=match[2] == "ssh")
        apart = begins if secret else -1
        found.setdefault((scheme, match[4], secret, commented, apart), []).append(match)
    for (scheme, host, secret, commented, _), matches in found.items():
        first = matches[0]
        line = lines_of.of(first.start())
        path = redact(re.split(r"[?#]", first[5], maxsplit=1)[0])
        yield Address(scheme, host, path, secret, line, file, commented, len(matches))


def _schemeless(text: str, file: str) -> Iterator[Address]:
    for match in _SCHEMELESS.finditer(text):
        if secret := _secret(match[1], "", ssh=False):
            yield Address("", match[2], "", secret, text.count("\n", 0, match.start(1)) + 1, file)


def _secret(user: str, rest: str, *, ssh: bool) -> str:
    """Tell what secret stands before a host, or behind it as a parameter that printable.redact would hide."""
    name, colon, password = user.partition(":")
    token = password if colon else "" if ssh or name.lower() in _USERS else name
    if _VARIABLE.sub("", token):
        return "user" if not colon and token.isalpha() else "plain"
    query = "".join(rest.partition("?")[1:])
    fixed = _VARIABLE.sub("", query)
    if redact(fixed) != fixed:
        return "plain"
    return "variable" if token or redact(query) != query else ""


def _left_out(text: str, file: str) -> Iterator[LeftOut]:
    for match in _LEFT_OUT.finditer(text):
        first = match[0].split("\n", 1)[0].rstrip("\r")
        names = tuple(_NAMED.findall(match["rest"]))
        yield LeftOut(names, "WARNING" in first, first, text.count("\n", 0, match.start()) + 1, file)


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
