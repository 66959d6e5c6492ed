"""When a distribution was installed, read from the times of its files, and what those times are worth.

Measured with pip 26.3 and uv 0.13.9 on ext4, each into a fresh venv:

- pip writes one distribution after the other: its files in the wheel's order, its metadata, the byte code, INSTALLER,
  REQUESTED (only for what was named on the command line or in a file given by -r) and RECORD last. All get the time of
  writing. Between two distributions of one command lie some 10 ms, between two commands at least 0.25 s.
- uv writes several at once and RECORD last; REQUESTED it writes for all. With copies every file has the time of
  writing. With hard links (and clones, where the file system has none) a file keeps the time at which it was unpacked
  into the cache, which may be months earlier, and only RECORD, INSTALLER and REQUESTED are new. Two commands in a row
  lie 0.02 s apart, so that no pause tells them from one.
- Both sort RECORD's rows by path, so that those of the dist-info come before those of a package of the same name.
- `cp -r` gives new times in the old order.
- Byte code holds its source's time, in whole seconds (CPython's importlib, PEP 552). A copy changes the file's time and
  not what the byte code says.

Not measured: an archive holds whole seconds in its plain form (POSIX ustar), and a layer made to be reproducible has
one time for all (reproducible-builds.org, SOURCE_DATE_EPOCH).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from envdoctor.facts.batches import Worth

HEAD = 1 << 16
"""Bytes of a RECORD that are read for its first rows."""
NEAR = 60.0
"""Seconds between a source and its RECORD within which one copy wrote both; an edit comes later as a rule."""
SLACK = 5.0
"""Seconds by which two times of one act may differ."""
_TIMED = 0
"""Flags of byte code that is checked by its source's time (PEP 552)."""


@dataclass(frozen=True, slots=True)
class Times:
    """Of one distribution, seconds since the epoch."""

    ended: float | None
    """When RECORD was written, METADATA if there is no RECORD."""
    started: float | None
    """When the first of its files was written, where that can be told from the end."""
    worth: Worth = "own"


def read(metadata: str, location: str, installer: str | None) -> Times:
    """Read the times of an installation; `metadata` is the dist-info. What cannot be read tells nothing."""
    described, recorded = (modified(os.path.join(metadata, name)) for name in ("METADATA", "RECORD"))
    if recorded is None:  # none, or a link that leads nowhere
        return Times(described, described if installer == "pip" else None)
    source = _source(metadata, location)
    first = modified(source) if source else None
    relinked = installer == "uv" and described is not None and recorded < described <= recorded + NEAR  # RECORD is last
    if relinked or (source and first is not None and _copied(source, first, recorded)):
        return Times(recorded, None, "copied")
    flat = recorded == int(recorded) and described == recorded and first in (None, recorded)
    placed = [when for path in (source, os.path.join(metadata, "METADATA")) if (when := _placed(path, installer))]
    began = min([when for when in placed if when <= recorded], default=recorded if installer == "pip" else None)
    return Times(recorded, began, "flat" if flat else "own")


def _source(metadata: str, location: str) -> str | None:
    """Return a module of the distribution, any file of its if it has none: the first that RECORD names."""
    own = os.path.basename(metadata) + "/"
    rows = [row for row in _rows(os.path.join(metadata, "RECORD")) if not row.startswith((own, "..", "/"))]
    found = next((row for row in rows if row.endswith(".py")), rows[0] if rows else "")
    return os.path.join(location, found) if found else None


def modified(path: str) -> float | None:
    """Return when a file was written; None for a link that leads nowhere, and for what is not there."""
    try:
        return os.stat(path).st_mtime
    except (OSError, ValueError):  # a path with NUL in it is a ValueError
        return None


def _placed(path: str | None, installer: str | None) -> float | None:
    """Return when a file was put where it lies; None where its time may be that of a cache.

    pip always writes. A hard link of uv's shares the time of the cache's file: it has several names, or had them and
    its ctime is that of the loss.
    """
    try:
        status = os.lstat(path) if path else None  # of a link itself: uv can link into its cache
    except (OSError, ValueError):
        return None
    if status is None or installer == "pip":
        return status and status.st_mtime
    in_place = status.st_nlink == 1 and abs(status.st_ctime - status.st_mtime) <= SLACK
    return status.st_mtime if in_place else None


def _rows(record: str) -> Iterable[str]:
    try:
        if not os.path.isfile(record):
            return []
        with open(record, encoding="utf-8", errors="surrogateescape") as stream:
            rows = stream.read(HEAD).splitlines()
    except (OSError, ValueError):
        return []
    return [row.partition(",")[0] for row in rows if row and not row.startswith('"')]


def _copied(path: str, written: float, recorded: float) -> bool:
    """Tell whether a copy gave a module its time: byte code remembers another, and not that of RECORD."""
    then = _remembered(path) if path.endswith(".py") and abs(written - recorded) <= NEAR else None
    return then is not None and then != int(written) and abs(then - recorded) > SLACK


def _remembered(path: str) -> int | None:
    """Return the time of the source that byte code was made from; None if there is none, or it is checked by hash."""
    folder, name = os.path.split(path)
    cache, stem = os.path.join(folder, "__pycache__"), name.removesuffix(".py") + "."
    try:
        found = [entry for entry in os.listdir(cache) if entry.startswith(stem) and entry.endswith(".pyc")]
        if not found or not os.path.isfile(os.path.join(cache, found[0])):
            return None
        with open(os.path.join(cache, found[0]), "rb") as stream:
            head = stream.read(12)
    except OSError:
        return None
    if len(head) < 12 or struct.unpack_from("<I", head, 4)[0] != _TIMED:
        return None
    then: int = struct.unpack_from("<I", head, 8)[0]
    return then


def changed(site: str) -> float | None:
    """Return when a name came or went in a site-packages directory; None where it may have been its byte code's folder.

    The first import of a module that lies in it makes that folder.
    """
    when, cache = modified(site), os.path.join(site, "__pycache__")
    try:
        made = min(when_made for name in os.listdir(cache) if (when_made := modified(os.path.join(cache, name))))
    except (OSError, ValueError):
        made = None
    return None if when is None or (made is not None and abs(made - when) <= SLACK) else when
