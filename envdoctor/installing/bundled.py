"""What ensurepip put into a venv, and the wheels it came from: those bundled with the base interpreter."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Set as AbstractSet

from envdoctor.archives import Archive
from envdoctor.facts.interpreter import parse_pyvenv
from envdoctor.facts.metadata import normalised
from envdoctor.installing.layout import Found, Layout
from envdoctor.system.reading import regular

SHARED = "/usr/share/python-wheels"
"""Where Debian and Fedora keep them (`WHEEL_PKG_DIR` of their builds)."""


def found(layout: Layout, there: Found, names: AbstractSet[str], notes: list[str]) -> tuple[list[Archive], set[str]]:
    """Return the bundled wheels of what is installed of `names`, and the names for which there is none."""
    archives: list[Archive] = []
    alone: set[str] = set()
    for name, version in installed(layout, there).items():
        if name not in names:
            continue
        path = next((path for path in _wheels(layout) if _is(path, name, version)), None)
        if path is None:
            notes.append(
                f"{name} {version}: its wheel is not bundled with the base interpreter; held to its own RECORD"
            )
            alone.add(name)
        else:
            archives.append(_archive(name, version, path))
    return archives, alone


def installed(layout: Layout, there: Found) -> dict[str, str]:
    """Return the versions of what has a dist-info, by normalised name."""
    start, end = f"{layout.site}/", ".dist-info"
    infos = (path[len(start) : -len(end)] for path in there.folders if path.startswith(start) and path.endswith(end))
    return {normalised(info.partition("-")[0]): info.partition("-")[2] for info in infos if "/" not in info}


def _wheels(layout: Layout) -> list[str]:
    with open(layout.at("pyvenv.cfg"), encoding="utf-8", errors="surrogateescape") as stream:
        home = parse_pyvenv(stream.read(1 << 16)).get("home", "")
    base = glob.escape(os.path.dirname(home))
    own = glob.glob(f"{base}/lib/python{layout.version}*/ensurepip/_bundled/*.whl")
    return [*own, *glob.glob(f"{SHARED}/*.whl")]


def _is(path: str, name: str, version: str) -> bool:
    project, found, *_ = [*os.path.basename(path).split("-"), "", ""]
    return normalised(project) == name and found == version


def _archive(name: str, version: str, path: str) -> Archive:
    size = os.path.getsize(path)
    digest = hashlib.sha256(regular(path, 64 << 20)).hexdigest()
    return Archive(name, version, os.path.basename(path), digest, path, size)
