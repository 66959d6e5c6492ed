"""From a requirements file's bytes to its logical lines, the way pip does it (pip 26.3, req/req_file.py).

Differences from pip: an undecodable byte is a problem of its line, not the end of reading; `${VAR}` is never expanded.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from envdoctor.locks.text import quoted
from envdoctor.model import LockProblem

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with UTF-16's
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(rb"coding[:=]\s*([-\w.]+)")
_CHARSETS = re.compile(r"utf-(8|16|32)(-\w+)?|ascii|iso8859-\d+|cp\d+|koi8-\w|gb\w+|big5|euc_\w+|shift_jis|mac-\w+")
"""Names of codecs that are character sets: Python also has some that unpack or execute escapes."""
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*$")
r"""pip's own pattern begins with `(^|\s+)`, which takes ever longer over a long run of blanks."""


def decode(data: bytes, file: str) -> tuple[str, list[LockProblem]]:
    r"""Decode by byte order mark, else by a PEP 263 comment, else as UTF-8; bytes that do not fit become `\xNN`."""
    mark, encoding = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", ""))
    body = data[len(mark) :]
    problems: list[LockProblem] = []
    if not encoding:
        encoding, problems = _declared(body, file)
    try:
        return body.decode(encoding), problems
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        place = f"byte {len(mark) + error.start} (0x{body[error.start]:02x}) is not {encoding.upper()}"
        said = f"{place}; a `# -*- coding: ... -*-` line may declare another"
        problems.append(LockProblem(line, said, file, "bad-encoding"))
        return body.decode(encoding, errors="backslashreplace"), problems


def _declared(data: bytes, file: str) -> tuple[str, list[LockProblem]]:
    for number, line in enumerate(data.split(b"\n", 2)[:2], 1):
        match = _DECLARED.search(line) if line.startswith(b"#") else None
        if match is not None:
            name = match[1].decode("ascii", errors="replace")
            try:
                known = codecs.lookup(name).name
            except (LookupError, ValueError):
                known = ""
            if _CHARSETS.fullmatch(known):
                return known, []
            said = f"encoding {quoted(name)} is not known; read as UTF-8"
            return "utf-8", [LockProblem(number, said, file, "bad-encoding", name)]
    return "utf-8", []


def logical_lines(text: str) -> Iterator[tuple[int, str]]:
    r"""Yield (first physical line, text) with `\` continuations joined, comments and empty lines gone.

    A comment line ends a continuation. Lines are split wherever pip splits them: it also installs what follows a
    form feed or a Unicode line separator, however an editor shows it.
    """
    for number, line in joined(text):
        plain = _COMMENT.sub("", line).strip()
        if plain:
            yield number, plain


def joined(text: str) -> Iterator[tuple[int, str]]:
    r"""Yield (first physical line, text) with `\` continuations joined, comments and empty lines still there."""
    first, parts = 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        comment = line.lstrip().startswith("#")
        if line.endswith("\\") and not comment:
            first = first if parts else number
            parts.append(line.strip("\\"))
        elif parts:
            yield first, "".join([*parts, " " + line if comment else line])
            parts = []
        else:
            yield number, line
    if parts:
        yield first, "".join(parts)
