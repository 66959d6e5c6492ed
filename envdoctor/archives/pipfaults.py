"""What pip's failure to download means: which package, and of what kind.

Texts: pip 26.3 (exceptions/, resolution/resolvelib/factory.py, network/download.py), seen against a local index.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from envdoctor.locks.text import normalised

Kind = Literal["digest", "missing", "connection", "build", "full", "other"]
_COLLECTING = re.compile(r"^(?:Collecting|Processing) ([A-Za-z0-9][\w.-]*?)(?:===?| ?@ |\[|$| \()", re.MULTILINE)
_MISMATCH = re.compile(
    r"^ +([A-Za-z0-9][\w.-]*?)(?:===?| ?@ | from )(?:(?!\n).)*?([^/\s#]+?)(?:#\S*)? \(from .*\n"
    r" +Expected (\S+ \S+)(?:\n +Expected .*| +or .*|\n +or .*)*\n +Got +(\S+)",
    re.MULTILINE,
)
_NOT_FOUND = re.compile(r"No matching distribution found for ([A-Za-z0-9][\w.-]*)")
_REFUSED = re.compile(r"HTTP error (4\d\d) while getting")
_BROKEN = re.compile(
    r"(?i)connection broken|NewConnectionError|Max retries|Read timed out|ConnectTimeout|SSLError|CERTIFICATE_VERIFY"
    r"|ProxyError|proxy-connection-failed|Name or service not known"
    r"|IncompleteRead|incomplete-download|Connection aborted|Connection reset"
    r"|connection-failed|connection-timeout|ssl-verification-failed|HTTP error 5\d\d|5\d\d Server Error"
)
_BUILDING = re.compile(
    r"subprocess-exited-with-error|metadata-generation-failed|failed-build-dependency-install|backend-unavailable"
    r"|failed-wheel-build|pyproject-build-system-requires|Failed to build"
)
_FULL = re.compile(r"No space left on device|Disk quota exceeded")
_PROGRESS = re.compile(r"^Progress \d+ of \d+\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PipFault:
    """Why pip stopped."""

    kind: Kind
    name: str
    """Normalised name of the package that it was at; "" if it does not say."""
    said: str = ""
    """What there is to say about it beside its kind."""


def without_progress(text: str) -> str:
    """Leave out the lines by which pip tells how far a download is."""
    return _PROGRESS.sub("", text)


def read(text: str, names: Collection[str]) -> PipFault:
    """Read what pip printed when it failed to download packages of these normalised names."""
    at = next((name for found in reversed(_COLLECTING.findall(text)) if (name := normalised(found)) in names), "")
    if _FULL.search(text):
        return PipFault("full", at)
    if match := _MISMATCH.search(text):
        said = f"{match[2]} has {match[3].partition(' ')[0]} {match[4]}, which is not in the lock"
        return PipFault("digest", _known(match[1], names) or at, said)
    if "DO NOT MATCH THE HASHES" in text:
        return PipFault("digest", at)
    if _BUILDING.search(text):
        return PipFault("build", at)
    if match := _REFUSED.search(text):
        return PipFault("missing", at, f"the index answers {match[1]}")
    missing = _NOT_FOUND.search(text)
    if _BROKEN.search(text):
        return PipFault("connection", _known(missing[1], names) if missing else at)
    return PipFault("missing", _known(missing[1], names) or at) if missing else PipFault("other", at)


def _known(name: str, names: Collection[str]) -> str:
    return normalised(name) if normalised(name) in names else ""
