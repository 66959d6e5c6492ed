"""RECORD files: what an installer wrote down of the files it put there (PEP 376, PEP 427). Values only."""

from __future__ import annotations

import csv
import hashlib
import os
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from io import StringIO

from envdoctor.system.reading import regular

WIDTH = 3
LIMIT = 64 << 20
"""Bytes of one RECORD; the largest seen, of a wheel with 30,000 files, has 3 MB."""
_INSTALLERS_OWN = tuple(
    f".dist-info/{name}"
    for name in ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json", "uv_build.json")
)
"""Files of dist-info that the installer writes, not the wheel."""


Row = list[str]
"""Path (relative to the directory that holds the dist-info, or absolute, as written), digest
(`algorithm=urlsafe-base64-without-padding`, or ""), size in bytes (decimal, or "")."""


def parse(text: str) -> list[Row]:
    """Return the rows; those of another width than three are left out. Raises ValueError for broken quoting."""
    try:
        return [row for row in csv.reader(StringIO(text, newline=""), strict=True) if len(row) == WIDTH]
    except csv.Error as error:
        raise ValueError(f"is not CSV: {error}") from error


def read(path: str) -> list[Row]:
    """Read a RECORD; undecodable bytes are kept.

    Raises OSError if it cannot be opened, ValueError if it is no regular file, larger than `LIMIT` or no CSV.
    """
    return parse(regular(path, LIMIT).decode("utf-8", "surrogateescape"))


def paths(metadata: str) -> list[str]:
    """Return the paths that the RECORD in a dist-info directory lists; [] if there is none that can be read."""
    try:
        return [row[0] for row in read(os.path.join(metadata, "RECORD"))]
    except (OSError, ValueError):
        return []


def is_ours(path: str) -> bool:
    """Tell whether a row names a file that came out of the wheel and stays as it was.

    Byte code, and what installers rewrite or put outside the library (scripts, shared data), is not.
    """
    return not path.endswith(".pyc") and "__pycache__/" not in path and not is_outside(path)


def is_outside(path: str) -> bool:
    """Tell whether a row leads out of site-packages: `../../../bin/x`, `../../../share/...`, or an absolute path."""
    return path.startswith(("../", "/")) or "/../" in path


def wheel_digest(rows: Iterable[Row]) -> str:
    """Digest what a RECORD says of the wheel, the same for every installer of the same wheel."""
    kept = sorted(
        f"{path},{digest}"
        for path, digest, _ in rows
        if digest and is_ours(path) and not path.endswith(_INSTALLERS_OWN)
    )
    return hashlib.sha256("\n".join(kept).encode("utf-8", "surrogateescape")).hexdigest()


def matches(path: str, digest: str) -> bool | None:
    """Tell whether a file has the recorded digest; None if the algorithm is unknown or the file cannot be read."""
    algorithm, _, recorded = digest.partition("=")
    if algorithm not in hashlib.algorithms_guaranteed or algorithm.startswith("shake") or not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as stream:
            actual = hashlib.file_digest(stream, algorithm).digest()
    except (OSError, ValueError):  # ValueError: an algorithm that this build of OpenSSL forbids
        return None
    return urlsafe_b64encode(actual).rstrip(b"=").decode() == recorded.rstrip("=")
