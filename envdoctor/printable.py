"""Make strings that came from somewhere else safe to store and to print."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

_PLAIN = re.compile(r"[ -~]*\Z")
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_CREDENTIALS = re.compile(r"(?<=://)[^/\s?#]*@")
_SECRET_QUERY = re.compile(r"(?i)([?&#](?:[\w-]*(?:token|key|secret|password|signature|credential|auth)|sig)=)[^&\s#]+")

_ASSIGNED = re.compile(
    r"""(?i)((?:token|secret|passw(?:or)?d|pwd|api_?key|access_?key|private_?key)
    (?:["']\]?\s*[,:=]\s*["']|(?:\s*:\s*str)?\s*=(?!=)\s*(?P<quote>["'])?))(?(quote)[^"']+|[^"'\s&;,)#]+)""",
    re.VERBOSE,
)
"""`HF_TOKEN=hf_...`, `environ["HF_TOKEN"] = "..."`; `tokenizers==0.22` and prose after a colon are none of them."""


def printable(text: str) -> str:
    r"""Show control, format and undecodable characters as \xNN, \uNNNN or \UNNNNNNNN; leave the rest alone.

    A file name may hold an escape sequence that repaints the terminal or a right-to-left override that hides a suffix.
    """
    if _PLAIN.match(text):
        return text
    return "".join(_shown(char) if unicodedata.category(char) in _UNSAFE else char for char in text)


def _shown(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was not UTF-8, kept by surrogateescape (PEP 383)
        code -= 0xDC00
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def redact(text: str) -> str:
    """Hide user names, passwords and tokens in URLs, and values that are assigned to a name of that kind."""
    return _ASSIGNED.sub(r"\1****", _SECRET_QUERY.sub(r"\1****", _CREDENTIALS.sub("****@", text)))


def moment_of(seconds: float | None) -> str | None:
    """Return a time of day on disk (seconds since the epoch) as RFC 3339 in UTC, to the second."""
    return None if seconds is None else datetime.fromtimestamp(int(seconds), UTC).isoformat().replace("+00:00", "Z")


def size_of(count: int) -> str:
    """Return a number of bytes as a person would say it, in powers of 1024: `925 KiB`, `63.5 GiB`."""
    size = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "bytes" or size == int(size) else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
