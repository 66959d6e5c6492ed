"""The stat index of a seal: size and times of every file and directory that was in order, to tell quickly what moved.

It lies beside the seal: the first line holds the directories and who owned what, as JSON; each other one holds a
dist-info, a tab, and the files of that distribution as JSON. A reader parses the lines that it needs.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from envdoctor import seals
from envdoctor.facts import records
from envdoctor.printable import throughout
from envdoctor.seals import Seal

Times = list[int]
"""Size in bytes, mtime and ctime in nanoseconds: ctime shows an edit whose author set mtime back."""


def times_of(status: os.stat_result) -> Times:
    """Return what the index keeps of a file."""
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns]


@dataclass(frozen=True, slots=True)
class SealedFiles:
    """The files of one distribution, all in order when they were sealed."""

    record: Times
    """Of its RECORD."""
    paths: list[str]
    """Relative to site-packages."""
    times: list[Times]
    """Of each path."""
    whole: bool = True
    """False if some of its files were not in order, or not looked at."""

    def intact(self, site: str, record: Times, measure: Callable[[os.stat_result], Times] = times_of) -> bool:
        """Tell whether the RECORD and every file still carry these times: one stat a file, nothing else."""
        if record != self.record or not self.whole:
            return False
        base, get_stat = site + "/", os.stat
        try:
            return [measure(get_stat(base + path)) for path in self.paths] == self.times
        except (OSError, ValueError):
            return False

    def by_path(self) -> Mapping[str, Times]:
        """Return path -> times."""
        return dict(zip(self.paths, self.times, strict=True))


def lines(prefix: str, seal: Seal) -> dict[str, bytes]:
    """Return the unparsed line of each sealed distribution, by its dist-info relative to the prefix."""
    pairs = (line.partition(b"\t") for line in seals.read_index(prefix, seal)[1:])
    return {os.fsdecode(metadata): rest for metadata, _, rest in pairs}


def parse(line: bytes | None) -> SealedFiles | None:
    """Read the line of one distribution; None if there is none, or it is damaged and the files count as unsealed."""
    try:
        data = json.loads(line) if line else None
        if not data or not set(map(type, data["paths"])) <= {str} or len(data["paths"]) != len(data["times"]):
            return None
        return SealedFiles(data["record"], data["paths"], data["times"], data.get("whole", True) is True)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def owners(prefix: str, seal: Seal) -> Any | None:  # noqa: ANN401 - JSON, for the caller to read
    """Return what was sealed of ownership, if nothing that it follows from has changed since; else None.

    It follows from the names in every directory and from the RECORDs. A directory whose ctime moved is listed again:
    byte code and its folder come and go.
    """
    first = seals.read_index(prefix, seal, first=True)
    try:
        data = json.loads(first[0]) if first else {}
        unchanged = all(_same_record(prefix, path, times) for path, times in data["records"].items()) and all(
            _same_folder(os.path.join(prefix, path), ctime, digest) for path, (ctime, digest) in data["folders"].items()
        )
        return _below(data["owners"], data["prefix"], prefix) if unchanged else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError):
        return None


def _below(owned: Any, before: str, prefix: str) -> Any:  # noqa: ANN401 - JSON
    """Name what was sealed under one path by another: a generation is sealed by its own, and looked at by its link."""
    if before == prefix:
        return owned
    return throughout(owned, lambda text: prefix + text[len(before) :] if text.startswith(f"{before}/") else text)


def _same_record(prefix: str, path: str, times: Times) -> bool:
    return times_of(os.stat(os.path.join(prefix, path))) == times


def _same_folder(path: str, ctime: int, digest: str) -> bool:
    return os.stat(path).st_ctime_ns == ctime or names_digest(path) == digest


def names_digest(folder: str) -> str:
    """Digest the names in a directory, byte code left out."""
    names = sorted(name for name in os.listdir(folder) if name != "__pycache__" and not name.endswith(".pyc"))
    return hashlib.sha256("/".join(names).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def build(prefix: str, sites: Iterable[str], in_order: Callable[[str, str], bool], owned: object) -> list[str]:
    """Return the lines of an index. `in_order(site, dist-info)` says which distributions are; `owned` is ownership."""
    folders: dict[str, tuple[int, str]] = {}
    record_times: dict[str, Times] = {}
    found = []
    for site in sites:
        for folder in _folders(site):
            folders[os.path.relpath(folder, prefix)] = (os.stat(folder).st_ctime_ns, names_digest(folder))
        for info in sorted(name for name in os.listdir(site) if name.endswith(".dist-info")):
            record = os.path.join(site, info, "RECORD")
            if os.path.isfile(record):
                record_times[os.path.relpath(record, prefix)] = times_of(os.stat(record))
                if in_order(site, info):
                    found.append(_line(prefix, site, info, record))
    said = {"prefix": prefix, "folders": folders, "records": record_times, "owners": owned}
    head = json.dumps(said, separators=(",", ":"))
    return [head, *found]


def _folders(site: str) -> Iterable[str]:
    """Yield a directory and all below it, links and byte code left out; os.walk recurses, and depth has no limit."""
    pending = [site]
    while pending:
        folder = pending.pop()
        yield folder
        with os.scandir(folder) as entries:
            pending += [e.path for e in entries if e.is_dir(follow_symlinks=False) and e.name != "__pycache__"]


def _line(prefix: str, site: str, info: str, record: str) -> str:
    rows = [path for path, digest, _ in records.read(record) if digest and records.is_ours(path)]
    times = [times_of(os.stat(os.path.join(site, path))) for path in rows]
    sealed = SealedFiles(times_of(os.stat(record)), rows, times)
    return f"{os.path.relpath(os.path.join(site, info), prefix)}\t{written(sealed)}"


def written(sealed: SealedFiles) -> str:
    """Return the line that `parse` reads."""
    whole = {} if sealed.whole else {"whole": False}
    data = {"record": sealed.record, "paths": sealed.paths, "times": sealed.times, **whole}
    return json.dumps(data, separators=(",", ":"))
