"""The text of a pip.conf, with the line that makes pip refuse what has no hash, and without it."""

from __future__ import annotations

import re

from envdoctor.facts.freeze import requires_hashes

NOTE = b"# the next line is of `envdoctor freeze`; `envdoctor thaw` takes it out"
LINE = b"require-hashes = true"
_SECTION = re.compile(rb"\[install\]")
_ANY_SECTION = re.compile(rb"\[[^]]+\]")
_OPTION = re.compile(rb"(?:--)?require[-_]hashes\s*(?:[=:]|\Z)", re.IGNORECASE)


def hashed(text: bytes) -> bytes:
    """Return a pip.conf that says the same and requires hashes. Raises ValueError if it cannot be made to say so.

    A line of the user's own on the matter gives way: pip reads no file that says a thing twice (configparser).
    """
    lines, inside, put = [], False, False
    for line in text.splitlines(keepends=True):
        if _ANY_SECTION.match(line):
            inside = _SECTION.match(line) is not None
        elif inside and _OPTION.match(line):
            continue
        lines.append(line)
        if inside and not put:
            lines[-1] = _ended(line)
            lines += [NOTE + b"\n", LINE + b"\n"]
            put = True
    if not put:
        lines = [*lines[:-1], *map(_ended, lines[-1:]), b"[install]\n", NOTE + b"\n", LINE + b"\n"]
    made = b"".join(lines)
    if not requires_hashes(made):
        raise ValueError("pip itself could not read it")
    return made


def unhashed(text: bytes) -> bytes:
    """Return a pip.conf without the line that `hashed` put in, for one that somebody has edited since."""
    return text.replace(NOTE + b"\n" + LINE + b"\n", b"")


def _ended(line: bytes) -> bytes:
    return line if line.endswith((b"\n", b"\r")) else line + b"\n"
