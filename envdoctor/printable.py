"""Make strings that came from somewhere else safe to store and to print."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

_LAST = 12
"""Lines of what a tool said that are shown."""
_PLAIN = re.compile(r"[ -~]*\Z")
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
USER = (
    r"""(?:[^/\s?#]*"""
    r"""|(?!localhost:)[^\s/@:?#\[.]{1,80}:(?!\d*(?:[\s"']|$)|\$)[^\s@"'<>]{0,200}"""
    r"""|[^\s/@:?#\[]{1,80}:(?![\d\s"'/$]|$)[^\s@"'<>]{0,200})@"""
)
"""What stands before a URL's host; also with a password whose / ? or # nobody escaped. A host's port begins with a
digit, and a host has a dot in it or is this machine."""
_CREDENTIALS = re.compile(rf"(?<=://){USER}")
_SCHEMELESS = re.compile(
    r"""(?<![\w@.-])[\w.+-]{1,80}:(?!//|\d+[/?#]|\$)[^\s@"'<>/]{1,200}@(?=[\w-]+(?:\.[\w-]+)*(?:[:/]|[\s"']|$))"""
)
"""`user:password@host` where somebody forgot the scheme, or wrote a part of one."""
_SECRET_QUERY = re.compile(r"(?i)([?&#](?:[\w-]*(?:token|key|secret|password|signature|credential|auth)|sig)=)[^&\s#]+")

_ASSIGNED = re.compile(
    r"""(?i)((?:token|secret|passw(?:or)?d|pwd|(?:api|access|private)[_-]?key)
    (?:["']\]?\s*[,:=]\s*["']|(?:\s*:\s*str)?\s*=(?!=)\s*(?P<quote>["'])?))(?(quote)[^"']+|[^"'\s&;,)#]+)""",
    re.VERBOSE,
)
"""`HF_TOKEN=hf_...`, `environ["HF_TOKEN"] = "..."`; `tokenizers==0.22` and prose after a colon are none of them."""
_OPTION = re.compile(
    r"""(?i)((?<![\w-])--?(?:[a-z0-9]{1,20}[_-]){0,4}
    (?:token|secret|passw(?:or)?d|pwd|(?:api|access|private|secret)[_-]?key)\s+
    (?!-|(?:and|as|from|has|if|in|is|may|must|nor|not|on|or|the|to|was|with)\b)
    (?P<quote>["'])?)(?(quote)[^"']+|[^"'\s]+)""",
    re.VERBOSE,
)
"""`--token hf_...` of a command line; `--token-file x` and `--token or --password` are none."""
_HEADER = re.compile(
    r"""(?i)(\bauthorization["']?\s*[:=]\s*["']?(?:basic|bearer|token|apikey|negotiate)\s+
    |\b(?:authorization["']?\s*[:=]\s*["']?|bearer\s+)(?=[^\s"']{0,400}[0-9])(?=[^\s"']{8})
    |\b(?:x-[a-z-]{0,30}(?:key|token|secret)|(?:private|job|deploy)-token)["']?\s*:\s*["']?)[^\s"',;]+""",
    re.VERBOSE,
)
"""Headers of a request: `Authorization: Bearer ...`, `X-Api-Key: ...`, and a bearer's token wherever it stands."""
_TOKEN = re.compile(
    r"""(?<![A-Za-z0-9])(?:(hf_|gh[oprsu]_|gsk_|r8_|npm_)[A-Za-z0-9]{20,}
    |(github_pat_|wandb_v[0-9]_)[A-Za-z0-9_]{20,}
    |(gl(?:agent|cbt|dt|ft|pat|ptt|rt|soat)-|nvapi-)[A-Za-z0-9_-]{16,}
    |(sk-)(?:(?=[a-z0-9_-]{0,99}[A-Z])[A-Za-z0-9_-]{16,}|(?:[a-z0-9]{2,8}-){0,2}[A-Za-z0-9]{16,})
    |(xox[a-z]-|xapp-)[A-Za-z0-9-]{10,}
    |(A[KS]IA)[A-Z0-9]{16}(?![A-Za-z0-9])
    |(AIza)[A-Za-z0-9_-]{30,}
    |(pypi-)AgE[A-Za-z0-9_-]{20,}
    |(eyJ)[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})""",
    re.VERBOSE,
)
"""Tokens that tell by their beginning, which is kept, whose they are: Hugging Face, GitHub, GitLab, OpenAI, AWS ..."""


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
    """Hide user names, passwords and tokens: in URLs, assignments, options and headers, and those known by their look.

    What is cut first may have lost what tells that it is a secret: redact, then cut.
    """
    text = _SCHEMELESS.sub("****@", _CREDENTIALS.sub("****@", text))
    for pattern in (_SECRET_QUERY, _HEADER, _ASSIGNED, _OPTION):
        text = pattern.sub(r"\1****", text)
    return _TOKEN.sub(lambda match: f"{match[match.lastindex or 0]}****", text)


def throughout(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value with every string changed, keys as well."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): throughout(item, change) for key, item in value.items()}
    return [throughout(item, change) for item in value] if isinstance(value, list) else value


def clean(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Make every string that came from a disk safe to print."""
    return throughout(value, lambda text: printable(redact(text)))


def last_lines(text: str) -> tuple[str, ...]:
    """Return what a tool said last, printable and without secrets; the frames of a traceback are not worth reading."""
    said = [printable(redact(line.rstrip()))[:300] for line in without_frames(text.splitlines()) if line.strip()]
    return tuple(said[-_LAST:])


def without_frames(lines: Iterable[str]) -> Iterable[str]:
    """Leave out tracebacks but for their last lines, what was raised; a tool may indent that of another."""
    inside: int | None = None
    for line in lines:
        text, indent = line.strip(), len(line) - len(line.lstrip())
        if text.startswith("Traceback (most recent call last)"):
            inside = indent
        elif text.startswith(("The above exception", "During handling")):
            continue
        elif inside is None or (text and indent <= inside):
            inside = None
            yield line


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
