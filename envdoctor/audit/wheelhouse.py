"""The metadata of the wheels in a directory (core metadata, in `*.dist-info/METADATA` of each)."""

from __future__ import annotations

import os
import zipfile
from email.parser import HeaderParser

from envdoctor.errors import UsageError
from envdoctor.locks.text import name_and_version, normalised
from envdoctor.system.reading import opened
from envdoctor.system.zips import UNREADABLE
from envdoctor.views.lock_metadata import LockMetadata, Released

LIMIT = 1 << 20
"""Bytes of one METADATA; a long description is most of it."""
WHEELS = 20_000
NO_WHEEL = (*UNREADABLE, StopIteration)
"""What is raised for a file that is not there, cut off, no regular one, without METADATA, no archive, damaged; and by
zipfile for one that is encrypted or packed in a way that it does not know."""


def read(folder: str) -> LockMetadata:
    """Read every wheel of a directory. Raises UsageError if it is none, or holds no wheel."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".whl"))[:WHEELS]
    except OSError as error:
        raise UsageError(f"--wheelhouse: {folder}: {error.strerror or error}") from error
    if not names:
        raise UsageError(f"--wheelhouse: {folder} holds no wheel")
    releases: dict[str, list[Released]] = {}
    for name in names:
        named = name_and_version(name)
        metadata = _metadata(os.path.join(folder, name))
        if named is not None and metadata is not None:
            releases.setdefault(normalised(named[0]), []).append(metadata)
    return LockMetadata({name: tuple(found) for name, found in releases.items()}, f"the wheelhouse {folder}")


def _metadata(path: str) -> Released | None:
    """Return one wheel's metadata; None for a file that is no wheel: its release is then one of unknown metadata."""
    try:
        with opened(path) as file, zipfile.ZipFile(file) as archive:
            inside = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA") and n.count("/") == 1)
            with archive.open(inside) as stream:
                text = stream.read(LIMIT).decode("utf-8", "replace")
    except NO_WHEEL:
        return None
    headers = HeaderParser().parsestr(text)
    requires = tuple(map(str, headers.get_all("Requires-Dist", ())))
    return Released(str(headers.get("Version", "")), requires, headers.get("Requires-Python"))
