"""What earlier deep checks hashed: the identity of every file that had its recorded digest, by target.

It lies in the user's cache directory, since nothing is lost with it but time; one file a host and target, in the form
of a seal's stat index (facts/stat_index.py). A damaged one, or one that others could have written, is not believed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import time

from envdoctor import knowledge
from envdoctor.errors import EnvDoctorError
from envdoctor.facts.node import mount_of, parse_mountinfo
from envdoctor.model import Target
from envdoctor.system.host import Host, write_all, write_atomically
from envdoctor.system.reading import head, opened

FORM = b"envdoctor hashed 1 "
"""How the first line of a file begins; the digest of all that follows it ends that line."""
LIMIT = 512 << 20
"""Bytes of one file; 70,000 files take about 9 MB."""
_NAME = re.compile(r"[0-9a-f]{40}|\.[0-9a-f]{40}\..*")
MOUNTS = "/proc/self/mountinfo"
_LINES = 4 << 20
"""Bytes of it."""
KEPT = 64
"""Targets that are remembered; those checked longest ago are forgotten."""


def path_of(target: Target, host: Host) -> str:
    """Return where the memory of a target lies. A relative XDG_CACHE_HOME is ignored, as its specification asks for."""
    cache = host.own.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(cache):
        cache = os.path.join(host.own["HOME"], ".cache")
    name = hashlib.sha256("\0".join([host.name, host.root, target.prefix]).encode("utf-8", "surrogateescape"))
    return os.path.join(cache, "envdoctor", "hashed", name.hexdigest()[:40])


def is_sure_of_times(folder: str) -> bool:
    """Tell whether every write to files there moves their ctime, as far as the type of the file system tells."""
    mount = mount_of(os.path.realpath(folder), parse_mountinfo(head(MOUNTS, _LINES).decode(errors="surrogateescape")))
    timeless = {row["kind"] for row in knowledge.rows("timeless")}
    return mount is not None and mount.kind.partition(".")[0] not in timeless


def read(path: str) -> dict[str, bytes]:
    """Return the line of each distribution by its dist-info, relative to the prefix; none if there is no sound file."""
    try:
        with opened(path, follow=False) as stream:
            if not (_is_ours(os.fstat(stream.fileno())) and _is_ours(os.stat(os.path.dirname(path)))):
                return {}
            data = stream.read(LIMIT)
    except (OSError, ValueError):
        return {}
    first, _, rest = data.partition(b"\n")
    if first != _first(rest):
        return {}
    with contextlib.suppress(OSError):
        os.utime(path)  # used now: of several targets the ones that are checked are kept
    pairs = (line.partition(b"\t") for line in rest.splitlines())
    return {os.fsdecode(metadata): files for metadata, _, files in pairs}


def _first(rest: bytes) -> bytes:
    return FORM + hashlib.sha256(rest).hexdigest().encode()


def _is_ours(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def write(path: str, lines: dict[str, bytes]) -> None:
    """Replace the memory of a target, and forget what is over the limit. Raises EnvDoctorError."""
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise EnvDoctorError(f"{folder}: {error.strerror or error}") from error
    rest = b"".join(os.fsencode(metadata) + b"\t" + line + b"\n" for metadata, line in sorted(lines.items()))
    data = _first(rest) + b"\n" + rest
    write_atomically(path, lambda descriptor: write_all(descriptor, data), mode=0o600)
    _forget(folder)


def _forget(folder: str) -> None:
    """Remove all but the youngest, and what a killed run left half written an hour ago."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        ours = [entry for entry in entries if entry.is_file(follow_symlinks=False) and _NAME.fullmatch(entry.name)]
        found = sorted(((entry.stat().st_mtime, entry.path) for entry in ours), reverse=True)
        for number, (changed, path) in enumerate(found):
            dead = os.path.basename(path).startswith(".") and time.time() - changed > 3600
            if number >= KEPT or dead:
                os.unlink(path)
