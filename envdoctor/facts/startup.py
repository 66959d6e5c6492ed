"""What an interpreter start reads and runs: .pth and .start files, sitecustomize, usercustomize, PYTHONPATH.

Rules: CPython's Lib/site.py, 3.11 to 3.15 (lines that begin with `import` and a blank are executed; 3.11.7 and 3.12.1
still read hidden .pth files, which cpython gh-113659 of January 2024 ended). PEP 829 and the `site` documentation of
Python 3.15 for .start files, whose presence makes site ignore the import lines of the .pth file of the same name.
Everything is read as text; nothing is executed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from envdoctor.facts.install_times import modified
from envdoctor.facts.interpreter import Interpreter
from envdoctor.facts.search_path import (
    PTH_LIMIT,
    Origin,
    SearchPath,
    pth_files,
    pythonpath,
    reads_hidden,
    release,
    site_directories,
)
from envdoctor.model import Target
from envdoctor.printable import redact
from envdoctor.system.host import Host
from envdoctor.system.rooted import joined

TEXT_LIMIT = 300
"""Characters of one line that are kept."""
LINES_LIMIT = 500
"""Lines of one kind that are kept of one file."""
NAMES_LIMIT = 20_000
"""Names of one PYTHONPATH directory that are looked at."""
START_SINCE = (3, 15)
"""First Python that reads .start files (PEP 829)."""
_SITE_PACKAGES = re.compile(r"(/.*|)/lib(?:64)?/(?:python3[^/]*|pypy3[^/]*)/(?:site|dist)-packages(?:/|\Z)")

LineKind = Literal["path", "dead", "import", "ignored", "entry-point", "comment"]


@dataclass(frozen=True, slots=True)
class StartupLine:
    """One line of a .pth or .start file that is not blank."""

    number: int
    """1-based."""
    kind: LineKind
    """`path` exists, `dead` does not; `import` and `entry-point` are executed, `ignored` gives way to a .start file."""
    text: str
    path: str | None = None
    """Absolute path that a `path` or `dead` line names."""
    inside: bool = True
    """False if that path, its links resolved, leaves the installation that the file belongs to."""
    environment: str | None = None
    """Prefix of the environment in whose site-packages the path lies, if it does."""


@dataclass(frozen=True, slots=True)
class StartupFile:
    """One .pth or .start file that `site` would read."""

    path: str
    origin: Origin
    lines: tuple[StartupLine, ...] = ()
    problem: str | None = None
    """Why not all of it could be read."""
    written_at: float | None = None
    """Its mtime, seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Customize:
    """A sitecustomize or usercustomize module on the path."""

    name: str
    path: str
    origin: Origin
    size: int
    """Bytes."""
    imported: bool = True
    """False if one of the same name comes earlier on the path and is imported instead."""
    written_at: float | None = None
    """Its mtime, seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class SiteDirectory:
    """A site-packages directory of the environment, read by its interpreter or not."""

    path: str
    python: str
    """The directory's own name for its interpreter, e.g. `python3.12`."""
    distributions: int
    read: bool
    """False if it is named for another minor version than the one that runs."""
    writable: bool
    """True if any write bit is set on the directory."""


@dataclass(frozen=True, slots=True)
class PythonPathEntry:
    """One entry of PYTHONPATH."""

    path: str
    exists: bool
    inside: bool
    """True if it lies in the environment itself."""
    distributions: int = 0
    modules: tuple[str, ...] = ()
    """Importable top-level names."""
    environment: str | None = None
    """Prefix of the other environment in whose site-packages it lies, if it does."""
    project: str | None = None
    """The folder with pyproject.toml or .git that it lies in, if any."""


@dataclass(frozen=True, slots=True)
class Startup:
    """Everything that acts before the job's first line."""

    files: tuple[StartupFile, ...] = ()
    customize: tuple[Customize, ...] = ()
    """In the order of the path."""
    pythonpath: tuple[PythonPathEntry, ...] = ()
    sites: tuple[SiteDirectory, ...] = ()


def collect(target: Target, host: Host, interpreter: Interpreter, search_path: SearchPath) -> Startup:
    """Read it all from disk. Files that are no regular files are named, never opened."""
    files: list[StartupFile] = []
    for site, origin in _sites(target, interpreter, search_path):
        home = {"user-site": site, "system-site": interpreter.base_prefix or site}.get(origin, target.prefix)
        files += _startup_files(site, origin, home, interpreter, host.root)
    user_site = interpreter.kind != "venv" or interpreter.system_site
    enabled = user_site and not host.env.get("PYTHONNOUSERSITE")  # site.ENABLE_USER_SITE
    names = ["sitecustomize", "usercustomize"] if enabled else ["sitecustomize"]
    return Startup(
        tuple(files),
        tuple(found for name in names for found in _customize(name, search_path, interpreter)),
        tuple(_python_path(target.prefix, path) for path in dict.fromkeys(map(os.path.normpath, pythonpath(host)))),
        tuple(_site_directories(target.prefix, interpreter)),
    )


def _sites(target: Target, interpreter: Interpreter, search_path: SearchPath) -> Iterable[tuple[str, Origin]]:
    """Yield each site directory with its origin; one that PYTHONPATH names as well is still a site directory."""
    own = site_directories(target.prefix, interpreter)
    known = {os.path.realpath(path) for path in own}
    for path in own:
        yield path, "site-packages"
    for entry in search_path.entries:
        if entry.origin not in ("PYTHONPATH", "stdlib", "pth") and os.path.realpath(entry.path) not in known:
            yield entry.path, entry.origin


def _startup_files(site: str, origin: Origin, home: str, interpreter: Interpreter, top: str) -> Iterable[StartupFile]:
    starts = release(interpreter) >= START_SINCE
    begun = sorted(name for name in _names(site) if starts and name.endswith(".start") and not name.startswith("."))
    stems = {name.removesuffix(".start") for name in begun}
    roots = (os.path.realpath(home), os.path.realpath(site))
    for name in [*pth_files(site, hidden=reads_hidden(interpreter)), *begun]:
        path = os.path.join(site, name)
        text, problem = read_startup(path)
        ignored = name.removesuffix(".pth") in stems
        lines = parse_start(text) if name in begun else parse_pth(text, site, roots, ignored=ignored, top=top)
        yield StartupFile(path, origin, lines, problem, modified(path))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def read_startup(path: str) -> tuple[str, str | None]:
    """Return a file's text and what was wrong with it; undecodable bytes are kept (PEP 383)."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            return "", "is no regular file"
        with open(path, encoding="utf-8-sig", errors="surrogateescape") as stream:
            text = stream.read(PTH_LIMIT)
    except OSError as error:
        return "", f"cannot be read: {error.strerror or error}"
    if status.st_size > PTH_LIMIT:
        return text, f"is larger than {PTH_LIMIT >> 20} MiB; only its beginning was read"
    return text, None


def parse_pth(
    text: str, site: str, roots: tuple[str, ...], *, ignored: bool = False, top: str = ""
) -> tuple[StartupLine, ...]:
    """Classify the lines of a .pth file as site.addpackage does; `roots` are the resolved folders called inside.

    `top` is the directory in which absolute paths start (--root).
    """
    lines: dict[str, list[StartupLine]] = {"#": [], "import": [], "path": []}
    for number, line in enumerate(text.splitlines(), 1):
        runs = line.startswith(("import ", "import\t"))
        kept = lines["#" if line.startswith("#") else "import" if runs else "path"]
        if not line.strip() or len(kept) == LINES_LIMIT:
            continue
        if kept is lines["path"]:
            kept.append(_path_line(number, line.rstrip(), site, roots, top))
        else:
            kind: LineKind = "comment" if not runs else "ignored" if ignored else "import"
            kept.append(StartupLine(number, kind, _kept(line.rstrip())))
    return tuple(sorted((line for kept in lines.values() for line in kept), key=lambda line: line.number))


def _path_line(number: int, line: str, site: str, roots: tuple[str, ...], top: str) -> StartupLine:
    path = joined(top, site, line)
    if not os.path.exists(path):
        return StartupLine(number, "dead", _kept(line), path[: 4 * TEXT_LIMIT])
    real = os.path.realpath(path)
    inside = any(is_below(real, root) for root in roots)
    return StartupLine(number, "path", _kept(line), path, inside, environment_of(real))


def _kept(line: str) -> str:
    """Hide secrets before the line is cut: a part may have lost what tells that it is one."""
    return redact(line)[:TEXT_LIMIT]


def parse_start(text: str) -> tuple[StartupLine, ...]:
    """Read the entry points of a .start file: one `pkg.mod:callable` a line."""
    return tuple(
        StartupLine(number, "comment" if line.startswith("#") else "entry-point", _kept(line.strip()))
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip()
    )[:LINES_LIMIT]


def environment_of(path: str) -> str | None:
    """Return the prefix whose site-packages a path is or lies in, read off the path alone."""
    return (match[1] or "/") if (match := _SITE_PACKAGES.match(path)) else None


def is_below(path: str, folder: str) -> bool:
    """Tell whether a path is a folder or lies in it; both resolved."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _customize(name: str, search_path: SearchPath, interpreter: Interpreter) -> Iterable[Customize]:
    """Yield the modules of a name in the order of the path; a package comes before a module (FileFinder)."""
    tagged = [f".{interpreter.soabi}.so"] if interpreter.soabi else []
    suffixes = ["/__init__.py", *tagged, ".abi3.so", ".so", ".py", ".pyc"]
    shadowed = False
    for entry in search_path.entries:
        candidates = (os.path.join(entry.path, name + suffix) for suffix in suffixes)
        found = next(filter(os.path.isfile, candidates), None)
        if found:
            status = os.stat(found)
            yield Customize(name, found, entry.origin, status.st_size, not shadowed, status.st_mtime)
            shadowed = True


def _python_path(prefix: str, path: str) -> PythonPathEntry:
    real = os.path.realpath(path)
    inside = is_below(real, os.path.realpath(prefix))
    exists = os.path.exists(path)
    distributions, modules = _contents(path) if exists else (0, ())
    environment = environment_of(real) if exists and not inside else None
    return PythonPathEntry(path, exists, inside, distributions, modules, environment, _project(real))


def _contents(path: str) -> tuple[int, tuple[str, ...]]:
    """Count the distributions in a folder and list what can be imported from it; an archive counts as one module."""
    if not os.path.isdir(path):
        return 0, (os.path.basename(path),)
    distributions, modules = 0, set[str]()
    try:
        with os.scandir(path) as entries:
            for entry, _ in zip(entries, range(NAMES_LIMIT), strict=False):
                distributions += entry.name.endswith(".dist-info")
                stem = entry.name.partition(".")[0]
                if stem.isidentifier() and _importable(entry):
                    modules.add(stem)
    except OSError:
        pass  # what was seen until then still counts
    return distributions, tuple(sorted(modules))


def _importable(entry: os.DirEntry[str]) -> bool:
    init = os.path.join(entry.path, "__init__.py")
    return os.path.isfile(init) if entry.is_dir() else entry.name.endswith((".py", ".so"))


def _project(path: str) -> str | None:
    """Return the nearest folder at or above a path that is a project's."""
    while path != "/":
        if any(os.path.exists(os.path.join(path, mark)) for mark in ("pyproject.toml", ".git")):
            return path
        path = os.path.dirname(path)
    return None


def _site_directories(prefix: str, interpreter: Interpreter) -> Iterable[SiteDirectory]:
    """Yield lib/python3.*/site-packages of the prefix, told apart by the minor version that runs."""
    running = f"python{interpreter.minor}{'t' if interpreter.free_threaded else ''}" if interpreter.minor else None
    for name in sorted(filter(re.compile(r"python3\.\d+t?\Z").match, _names(os.path.join(prefix, "lib")))):
        path = os.path.join(prefix, "lib", name, "site-packages")
        try:
            held = sum(item.endswith((".dist-info", ".egg-info")) for item in os.listdir(path))
            writable = bool(os.stat(path).st_mode & 0o222)
        except OSError:
            continue
        yield SiteDirectory(path, name, held, running in (None, name), writable)
