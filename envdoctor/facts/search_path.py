"""Where the job would import from: sys.path as `site` would make it, computed from disk, with nothing executed.

Rules: CPython's Lib/site.py and Modules/getpath.py; PEP 405 (venv), PEP 370 (user site).
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from envdoctor import hooks
from envdoctor.facts.interpreter import Interpreter
from envdoctor.model import Target, Unavailable
from envdoctor.system.host import Host
from envdoctor.system.rooted import joined

Origin = Literal["PYTHONPATH", "stdlib", "site-packages", "user-site", "system-site", "pth"]
PTH_LIMIT = 1 << 20
"""Bytes of a .pth file that are read."""
HIDDEN_UNTIL: Mapping[tuple[int, ...], tuple[int, ...]] = {(3, 11): (3, 11, 9), (3, 12): (3, 12, 3)}
"""First releases taken to pass over hidden .pth files; where it may have been one earlier, too much is reported."""


@dataclass(frozen=True, slots=True)
class PathEntry:
    """One directory or archive of sys.path."""

    path: str
    origin: Origin
    via: str | None = None
    """The .pth file that added it, for origin `pth`."""
    exists: bool = True


@dataclass(frozen=True, slots=True)
class SearchPath:
    """Everything that the job would search, in order."""

    entries: tuple[PathEntry, ...]
    user_site: str | None
    """The caller's user site directory for this interpreter, if it exists."""
    user_site_enabled: bool
    """True if this environment reads it: no plain venv does, and PYTHONNOUSERSITE switches it off."""
    user_site_packages: int = 0
    """Distributions lying in it."""

    def site_dirs(self) -> tuple[str, ...]:
        """Return the environment's own site-packages directories."""
        return tuple(entry.path for entry in self.entries if entry.origin == "site-packages" and entry.exists)


def collect(target: Target, host: Host, interpreter: Interpreter) -> SearchPath | Unavailable:
    """Compute the path for a job that the caller would start with the target's python.

    Raises OSError if a site-packages directory of the target cannot be listed: an unreadable one is not an empty one.
    """
    own = site_directories(target.prefix, interpreter)
    for path in own:
        os.scandir(path).close()
    if not own:
        return Unavailable(f"no site-packages directory below {target.prefix} can be read", failed=True)
    user = _user_site(host, interpreter)
    user_enabled = (interpreter.kind != "venv" or interpreter.system_site) and not host.env.get("PYTHONNOUSERSITE")
    system: Iterable[str] = ()
    if interpreter.system_site and interpreter.base_prefix:
        system = site_directories(interpreter.base_prefix, interpreter)
    entries = [PathEntry(path, "PYTHONPATH", exists=os.path.exists(path)) for path in pythonpath(host)]
    if interpreter.stdlib:
        entries += [PathEntry(interpreter.stdlib, "stdlib", exists=os.path.isdir(interpreter.stdlib))]
        entries += [PathEntry(os.path.join(interpreter.stdlib, "lib-dynload"), "stdlib")]
    # A venv's own site-packages come before the user site; elsewhere the user site comes first (site.main).
    with_pth = partial(_with_pth, hidden=reads_hidden(interpreter), root=host.root)
    own_entries = [found for path in own for found in with_pth(path, "site-packages")]
    user_entries = list(with_pth(user, "user-site")) if user and user_enabled else []
    entries += own_entries + user_entries if interpreter.kind == "venv" else user_entries + own_entries
    entries += [found for path in system for found in with_pth(path, "system-site")]
    return SearchPath(_unique(entries), user, bool(user and user_enabled), _count(user))


def pythonpath(host: Host) -> list[str]:
    """Return PYTHONPATH's entries; an empty one means the current directory, as in getpath. Not our own hooks."""
    value = host.env.get("PYTHONPATH", "")
    parts = [part for part in value.split(os.pathsep) if not hooks.is_ours(part)] if value else []
    return [os.path.join(host.cwd, part) for part in parts]


def site_directories(prefix: str, interpreter: Interpreter) -> tuple[str, ...]:
    """Return the existing site-packages directories of a prefix, Debian's dist-packages included."""
    minor = interpreter.minor or "*"
    python = f"python{minor}t" if interpreter.free_threaded else f"python{minor}"
    patterns = [f"{lib}/{python}/site-packages" for lib in ("lib", "lib64")]
    patterns += [f"local/lib/{python}/dist-packages", "lib/python3/dist-packages", f"lib/{python}/dist-packages"]
    found: dict[str, str] = {}
    for pattern in patterns:
        for path in sorted(glob.glob(os.path.join(glob.escape(prefix), pattern))):
            found.setdefault(os.path.realpath(path), path)
    if not found:  # the directory is named for another minor version than the one that runs
        for path in sorted(glob.glob(os.path.join(glob.escape(prefix), "lib", "python3.*", "site-packages"))):
            found.setdefault(os.path.realpath(path), path)
    return tuple(found.values())


def _user_site(host: Host, interpreter: Interpreter) -> str | None:
    base = host.env.get("PYTHONUSERBASE") or os.path.join(host.home, ".local")
    suffix = "t" if interpreter.free_threaded else ""
    path = host.at(os.path.join(base, "lib", f"python{interpreter.minor}{suffix}", "site-packages"))
    return path if interpreter.minor and os.path.isdir(path) else None


def _count(site: str | None) -> int:
    try:
        return sum(name.endswith((".dist-info", ".egg-info")) for name in os.listdir(site)) if site else 0
    except OSError:
        return 0


def _with_pth(site: str, origin: Origin, *, hidden: bool, root: str) -> Iterable[PathEntry]:
    """Yield a site directory and the directories that its .pth files add, in the order of site.addsitedir."""
    yield PathEntry(site, origin)
    for file in pth_files(site, hidden=hidden):
        for line in pth_lines(os.path.join(site, file)):
            if line and not line.startswith(("#", "import ", "import\t")):
                path = joined(root, site, line)
                if os.path.exists(path):  # site.addpackage adds only what exists
                    yield PathEntry(path, "pth", via=os.path.join(site, file))


def pth_files(site: str, *, hidden: bool) -> list[str]:
    """List the .pth files that site would read, in its order."""
    try:
        names = sorted(os.listdir(site))
    except OSError:
        return []
    return [name for name in names if name.endswith(".pth") and (hidden or not name.startswith("."))]


def reads_hidden(interpreter: Interpreter) -> bool:
    """Tell whether this interpreter reads .pth files with a leading dot (CPython gh-113659)."""
    version = release(interpreter)
    return version < HIDDEN_UNTIL.get(version[:2], (3, 11))


def release(interpreter: Interpreter) -> tuple[int, ...]:
    """Return the interpreter's version as numbers; () if it is unknown."""
    match = re.match(r"\d+(?:\.\d+)*", interpreter.version or "")
    return tuple(map(int, match[0].split("."))) if match else ()


def pth_lines(path: str) -> list[str]:
    """Read a .pth file's lines, stripped on the right; undecodable bytes are kept. [] if it is no regular file."""
    try:
        if not os.path.isfile(path):
            return []
        with open(path, encoding="utf-8-sig", errors="surrogateescape") as stream:
            return [line.rstrip() for line in stream.read(PTH_LIMIT).split("\n")]
    except OSError:
        return []


def _unique(entries: Iterable[PathEntry]) -> tuple[PathEntry, ...]:
    """Drop repetitions as site.removeduppaths does: the first place wins.

    A site directory that PYTHONPATH names as well comes earlier for it, and is a site directory still.
    """
    seen: dict[str, PathEntry] = {}
    for entry in entries:
        first = seen.setdefault(os.path.realpath(entry.path), entry)
        if first.origin == "PYTHONPATH" and entry.origin == "site-packages":
            seen[os.path.realpath(entry.path)] = entry
    return tuple(seen.values())
