"""Answers of indexes, kept for an hour: one file a project, that only its owner may read, and nothing secret in it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass
from typing import Any

from envdoctor.errors import EnvDoctorError
from envdoctor.system.host import Host, write_atomically
from envdoctor.system.reading import regular
from envdoctor.views.lock_online import ListedFile

AGE = 3600.0
"""Seconds for which an answer is taken."""
LEFT = 86400.0
"""Seconds after which a file is removed."""
LIMIT = 64 << 20
"""Bytes of one answer."""
Files = tuple[ListedFile, ...] | None
"""What an index lists of a project, None if it has no such project."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The directory."""

    folder: str
    now: float
    """Seconds since the epoch."""

    def get(self, index: str, name: str) -> tuple[Files] | None:
        """Return a fresh answer, in a tuple; one that is damaged, old or of the future is none."""
        try:
            kept = json.loads(regular(self._path(index, name), LIMIT, follow=False))
            files = None if kept["files"] is None else tuple(map(_file, kept["files"]))
            fresh = 0 <= self.now - kept["taken_at"] <= AGE
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return None
        return (files,) if fresh and (kept["index"], kept["name"]) == (index, name) else None

    def put(self, index: str, name: str, files: Files) -> None:
        """Keep an answer, if it can be kept; another run sees the old one or this, never a part."""
        rows = None if files is None else [[file.name, file.hashes, file.yanked, file.uploaded] for file in files]
        data = json.dumps({"index": index, "name": name, "taken_at": self.now, "files": rows}).encode()
        with contextlib.suppress(EnvDoctorError, OSError):
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            write_atomically(self._path(index, name), lambda descriptor: _all(descriptor, data), mode=0o600)

    def sweep(self) -> None:
        """Remove what nobody will take any more, and what a killed run left."""
        with contextlib.suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                if self.now - entry.stat(follow_symlinks=False).st_mtime > LEFT:
                    os.unlink(entry)

    def _path(self, index: str, name: str) -> str:
        return os.path.join(self.folder, hashlib.sha256(f"{index} {name}".encode()).hexdigest()[:40] + ".json")


def of(host: Host) -> Answers:
    """Return the caller's: below $XDG_CACHE_HOME; a relative one is ignored (XDG base directory specification)."""
    cache = host.env.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(cache):
        cache = os.path.join(host.home, ".cache")
    return Answers(os.path.join(cache, "envdoctor", "index"), host.now().timestamp())


def _file(row: Any) -> ListedFile:  # noqa: ANN401 - JSON
    """Take one file over. Raises ValueError or TypeError for what no run has written."""
    name, hashes, yanked, uploaded = row
    file = ListedFile(name, tuple(hashes), yanked, uploaded)
    texts = (name, *file.hashes, *(text for text in (yanked, uploaded) if text is not None))
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(row)
    return file


def _all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
