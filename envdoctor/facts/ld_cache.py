"""The loader's cache of libraries, `/etc/ld.so.cache`: what `ldconfig -p` prints, without running it.

Format: struct cache_file_new in sysdeps/generic/dl-cache.h of glibc at 04277e02d7f5: a header of 48 bytes, entries of
24, strings whose offsets count from the header; in the machine's byte order. It may follow a part in an older format.
"""

from __future__ import annotations

import os
import struct
import sys
from dataclasses import dataclass

from envdoctor.system.host import Host

PATH = "/etc/ld.so.cache"
LIMIT = 64 << 20
"""Bytes that are read; a desktop's cache has 0.1 MB."""
_MAGIC = b"glibc-ld.so.cache1.1"
_HEADER, _ENTRY = 48, 24
_ORDER = "<" if sys.byteorder == "little" else ">"


@dataclass(frozen=True, slots=True)
class Cached:
    """One line of the cache."""

    name: str
    """What a program asks for, e.g. `libcuda.so.1`."""
    path: str


def read(host: Host) -> tuple[Cached, ...] | None:
    """Read the host's cache; None if there is none (musl has none, nor has an image before its first ldconfig)."""
    path = host.at(host.resolve(PATH))
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as stream:
            return parse(stream.read(LIMIT))
    except OSError:
        return None


def parse(data: bytes) -> tuple[Cached, ...] | None:
    """Return the entries in the cache's own order, damaged ones left out; None if the format is not known."""
    start = data.find(_MAGIC)
    if start < 0 or len(data) < start + _HEADER:
        return None
    (count,) = struct.unpack_from(f"{_ORDER}I", data, start + len(_MAGIC))
    found = []
    for at in range(start + _HEADER, start + _HEADER + count * _ENTRY, _ENTRY):
        if at + _ENTRY > len(data):
            break
        name, path = struct.unpack_from(f"{_ORDER}II", data, at + 4)
        entry = Cached(_text(data, start + name), _text(data, start + path))
        if entry.name and entry.path.startswith("/"):
            found.append(entry)
    return tuple(found)


def _text(data: bytes, at: int) -> str:
    end = data.find(b"\0", at, at + 4097)
    return os.fsdecode(data[at:end]) if end >= 0 else ""
