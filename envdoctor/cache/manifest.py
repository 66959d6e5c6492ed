"""The manifest of a save: what lies in it and what it was made for. Values, and their way to JSON and back."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

SCHEMA = 1
NAME = "envdoctor-cache.json"
"""Name of the first member of a save."""
LARGEST = 1 << 40
"""Bytes of one file beyond which a manifest is not believed."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


class ManifestError(ValueError):
    """What does not fit in a manifest; the text follows `FILE: `."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One file of a save."""

    path: str
    """Relative to the cache's directory; bytes that are not UTF-8 kept by surrogateescape (PEP 383)."""
    size: int
    mode: int
    """Permission bits."""
    sha256: str
    stamp: tuple[int, int, int] = (0, 0, 0)
    """mtime_ns, ctime_ns and inode when it was read: while they stay, the file need not be read again."""


@dataclass(frozen=True, slots=True)
class Made:
    """What a cache was made for."""

    torch: str | None = None
    """`__version__` of torch/version.py, label included."""
    torch_git: str | None = None
    cuda: str | None = None
    triton: str | None = None
    python: str | None = None
    """Major and minor version."""
    machine: str | None = None
    """What uname(2) calls it: x86_64, aarch64."""
    archs: tuple[str, ...] = ()
    """Of the kernels that triton compiled, by their JSON: `cuda:90`."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """All that is known of a save."""

    taken_at: str
    """RFC 3339, UTC."""
    envdoctor: str
    """Version that wrote it."""
    host: str
    cache: str
    """The directory that was saved."""
    target: str
    """Prefix of the environment it was saved for."""
    made: Made
    files: tuple[Kept, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> number of files."""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(kept.size for kept in self.files)

    def content(self) -> str:
        """Return a digest of what is in it and what that was made for: two saves with one digest are equal."""
        lines = (f"{kept.sha256} {kept.mode:o} {kept.path}" for kept in sorted(self.files, key=lambda kept: kept.path))
        text = "\0".join((repr(self.made), self.cache, *lines))
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def dump(manifest: Manifest) -> bytes:
    """Write it as JSON."""
    head = {item.name: getattr(manifest, item.name) for item in fields(Manifest) if item.name not in ("made", "files")}
    made = {item.name: getattr(manifest.made, item.name) for item in fields(Made)}
    files = [
        {"path": kept.path, "size": kept.size, "mode": kept.mode, "sha256": kept.sha256, "stamp": kept.stamp}
        for kept in manifest.files
    ]
    return json.dumps({"schema": SCHEMA, **head, "made": made, "files": files}).encode()


def load(data: bytes) -> Manifest:
    """Read it. Raises ManifestError saying what does not fit; no path that it returns leads out of a directory."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise ManifestError("its manifest is no JSON of ours") from None
    if not isinstance(value, dict) or not isinstance(value.get("files"), list):
        raise ManifestError("its manifest is no JSON of ours")
    if value.get("schema") != SCHEMA:
        raise ManifestError(f"its manifest has schema {value.get('schema')!r}, this envdoctor reads {SCHEMA}")
    left = value.get("left_out")
    manifest = Manifest(
        **{key: _text(value, key) for key in ("taken_at", "envdoctor", "host", "cache", "target")},
        made=_made(value.get("made")),
        files=tuple(_kept(item) for item in value["files"]),
        left_out={key: count for key, count in left.items() if type(count) is int} if isinstance(left, dict) else {},
    )
    _refuse_conflicts(manifest.files)
    return manifest


def _text(value: Mapping[str, Any], key: str) -> str:
    if not isinstance(value.get(key), str):
        raise ManifestError(f"its manifest says no {key}")
    return str(value[key])


def _made(value: object) -> Made:
    if not isinstance(value, dict):
        raise ManifestError("its manifest does not say what it was made for")
    texts = {name: value.get(name) for name in ("torch", "torch_git", "cuda", "triton", "python", "machine")}
    archs = value.get("archs", [])
    if not all(text is None or isinstance(text, str) for text in texts.values()) or not isinstance(archs, list):
        raise ManifestError("its manifest does not say what it was made for")
    return Made(**texts, archs=tuple(map(str, archs)))


def _kept(item: object) -> Kept:
    if not isinstance(item, dict):
        raise ManifestError("its manifest lists something that is no file")
    path, size, mode, digest = (item.get(key) for key in ("path", "size", "mode", "sha256"))
    if not isinstance(path, str) or (wrong := unsafe(path)):
        raise ManifestError(f"its manifest lists {path!r}, which {wrong if isinstance(path, str) else 'is no path'}")
    if type(size) is not int or not 0 <= size <= LARGEST or type(mode) is not int:
        raise ManifestError(f"its manifest lists {path!r} with a size or mode that no file has")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise ManifestError(f"its manifest lists {path!r} without a sha256")
    stamp = item.get("stamp")
    known = isinstance(stamp, list) and len(stamp) == 3 and all(type(number) is int for number in stamp)
    return Kept(path, size, mode & 0o777, digest, (stamp[0], stamp[1], stamp[2]) if known and stamp else (0, 0, 0))


def unsafe(path: str) -> str | None:
    """Say why a path cannot be one of a file in a cache; None if it can."""
    if path.startswith("/"):
        return "is absolute"
    parts = path.split("/")
    if ".." in parts:
        return "leads out of the cache"
    try:
        encoded = [os.fsencode(part) for part in parts]
    except UnicodeEncodeError:
        return "is no file name"
    if "\0" in path or not all(0 < len(part) < 256 for part in encoded) or "." in parts or len(path) > 4000:
        return "is no file name"
    return None


def _refuse_conflicts(files: tuple[Kept, ...]) -> None:
    """Raise ManifestError for a path that is listed twice, or that is a file here and a directory there."""
    seen: set[str] = set()
    for kept in files:
        if kept.path in seen:
            raise ManifestError(f"its manifest lists {kept.path!r} twice")
        seen.add(kept.path)
    folders = {os.path.dirname(path) for path in seen}
    while folders:
        if clash := folders & seen:
            raise ManifestError(f"its manifest lists {min(clash)!r} as a file and as a directory")
        folders = {os.path.dirname(folder) for folder in folders} - {""}
