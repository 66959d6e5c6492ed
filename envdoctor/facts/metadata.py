"""The texts of a metadata directory, read. Values only.

Core metadata (PEP 566, 643), WHEEL (PEP 427), direct_url.json (PEP 610), requires.txt as setuptools wrote it for eggs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from envdoctor.printable import redact

_NAME = re.compile(r"[-_.]+")


def normalised(name: str) -> str:
    """Normalise a project name (PEP 503)."""
    return _NAME.sub("-", name).lower()


@dataclass(frozen=True, slots=True)
class DirectUrl:
    """Where a distribution came from, if not from an index (PEP 610)."""

    url: str
    """Secrets redacted."""
    editable: bool = False
    vcs: str | None = None
    commit: str | None = None
    hashes: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """The directory that it came from; "" if it came from elsewhere."""
        from urllib.parse import unquote, urlsplit

        return unquote(urlsplit(self.url).path).rstrip("/") if self.url.startswith("file://") else ""


_FIELDS = ("name", "version", "requires-dist", "provides-extra", "requires-python")


def parse_headers(text: str) -> dict[str, list[str]]:
    """Read the fields of core metadata that envdoctor uses; the description is not looked at.

    `email.parser.HeaderParser` takes four times as long (0.03 s over 186 distributions), and its import 0.02 s more.
    """
    found: dict[str, list[str]] = {}
    last: list[str] | None = None
    for line in text.split("\n"):
        line = line.rstrip("\r")
        if not line:
            break
        if line[0] in " \t":
            if last:
                last[-1] += " " + line.strip()
            continue
        key, colon, value = line.partition(":")
        last = None
        if colon and key.lower() in _FIELDS:
            last = found.setdefault(key.lower(), [])
            last.append(value.strip())
    return found


def parse_direct_url(text: str, problems: list[str]) -> DirectUrl | None:
    """Read direct_url.json (PEP 610); what is wrong with it is added to `problems`."""
    if not text:
        return None
    try:
        data = json.loads(text)
        vcs, archive = data.get("vcs_info") or {}, data.get("archive_info") or {}
        system, commit = vcs.get("vcs"), vcs.get("commit_id")
        hashes = archive.get("hashes") or dict(
            [archive["hash"].split("=", 1)] if "=" in archive.get("hash", "") else []
        )
        return DirectUrl(
            url=redact(str(data["url"])),
            editable=bool((data.get("dir_info") or {}).get("editable")),
            vcs=None if system is None else str(system),
            commit=None if commit is None else str(commit),
            hashes=tuple(f"{algorithm}:{digest}" for algorithm, digest in sorted(hashes.items())),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        problems.append("direct_url.json is not what PEP 610 says")
        return None


def parse_wheel_tags(text: str) -> tuple[str, ...]:
    """Return the `Tag` lines of a WHEEL file (PEP 427)."""
    return tuple(dict.fromkeys(line[4:].strip() for line in text.splitlines() if line.startswith("Tag:")))


def parse_requires_txt(text: str) -> tuple[str, ...]:
    """Return the requirements of an egg's requires.txt that apply without an extra."""
    plain = re.split(r"(?m)^\[", text, maxsplit=1)[0]
    return tuple(line.strip() for line in plain.splitlines() if line.strip())


def required_names(requires: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that Requires-Dist lines ask for, but for those of extras; and what has no marker at all.

    The latter keep the extras that they ask for: `uvicorn[standard]`.
    """
    plain = [text for text in requires if "extra" not in text.partition(";")[2]]
    always = [text for text in plain if ";" not in text]
    wanted = frozenset(name + extras for text in always for name, extras in _heads(text))
    return frozenset(name for text in plain for name, _ in _heads(text)), wanted


def _heads(text: str) -> list[tuple[str, str]]:
    match = re.match(r"([\w.-]+)\s*(\[[^\]]*\])?", text)
    return [(normalised(match[1]), match[2] or "")] if match else []
