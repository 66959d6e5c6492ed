"""The file that node_exporter's textfile collector reads: written beside its place and renamed into it."""

from __future__ import annotations

import math
import os
from functools import partial

from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.system.confined import answer
from envdoctor.system.dropped import become, identity
from envdoctor.system.host import write_all, write_atomically

SUFFIX = ".prom"
"""node_exporter reads no other file (collector/textfile.go)."""
WITHIN = 5.0
"""Seconds that writing as another user may take."""


def checked(path: str) -> str:
    """Return the path. Raises UsageError for one that node_exporter would not read."""
    if not path.endswith(SUFFIX):
        raise UsageError(f"--textfile: {path}: node_exporter reads only files whose names end in {SUFFIX}")
    return path


def write(path: str, text: str) -> None:
    """Replace the file; everybody may read it. Raises EnvDoctorError, with the old file left as it was.

    Into a directory of somebody else's, as node_exporter's own user may have, root writes as its owner. One of root's
    may lie in such a directory, as Debian has it: whoever swaps it gains a file that nothing but node_exporter reads.
    """
    folder = os.path.dirname(path)
    data = text.encode()
    try:
        if not os.path.isdir(folder):
            raise EnvDoctorError(f"{path}: cannot be written: there is no directory {folder}")
        owner = os.stat(folder).st_uid
    except OSError as error:
        raise EnvDoctorError(f"{path}: cannot be written: {error.strerror or error}") from error
    if os.geteuid() != 0 or owner == 0:
        _put(path, data)
    elif problem := answer(partial(_as_owner, owner, path, data), within=WITHIN):
        raise EnvDoctorError(problem.decode())


def _put(path: str, data: bytes) -> None:
    write_atomically(path, lambda descriptor: write_all(descriptor, data), mode=0o644)


def _as_owner(owner: int, path: str, data: bytes) -> bytes:
    try:
        become(identity(owner), seconds=math.ceil(WITHIN))
        _put(path, data)
    except EnvDoctorError as error:
        return str(error).encode()
    return b""
