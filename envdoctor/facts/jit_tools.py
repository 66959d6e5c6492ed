"""What torch.compile and triton need of the node to compile: assembler, compilers, Python's headers, libcuda.

Sources: triton 2.0 to 3.9 (knowledge/triton_toolchain.toml); torch/_inductor/cpp_builder.py and config.py of torch
2.13.0.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from envdoctor import knowledge
from envdoctor.facts import ld_cache
from envdoctor.facts.cuda_tools import Versions, host_name, runnable, which, written
from envdoctor.facts.interpreter import Interpreter
from envdoctor.facts.search_path import SearchPath
from envdoctor.model import Target
from envdoctor.system.host import Host

LINKER = tuple(
    f"{root}{folder}"
    for folder in ("/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64", "/lib")
    for root in ("", "/usr", "/usr/local")
)
"""Where GNU ld looks without being told (SEARCH_DIR in `ld --verbose` of Debian's binutils 2.40, x86-64)."""
LINK, LIBRARY = "libcuda.so", "libcuda.so.1"
Tool = Literal["ptxas", "ptxas-blackwell"]
TOOLS: tuple[Tool, ...] = ("ptxas", "ptxas-blackwell")
BUNDLED = ("triton/backends/nvidia/bin", "triton/third_party/cuda/bin")
"""Where triton's wheels keep their tools, from 3.0 on and before (knowledge/triton_ptxas.toml)."""
_VERSION = re.compile(r"^__version__ = ['\"]([^'\"]+)", re.MULTILINE)
_DIST = re.compile(r"(?:pytorch_)?triton-([^-]+)\.dist-info\Z")
_PATCHLEVEL = re.compile(r"^#define PY_M(?:AJOR|INOR)_VERSION\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Triton:
    """The triton that an import would find."""

    version: str | None
    location: str
    """The directory of sys.path in which it lies."""
    blackwell: int | None = None
    """Compute capability without the dot from which on it uses ptxas-blackwell; None if it has only ptxas."""
    known: bool = False
    """True if it is known how this release looks for its tools."""


@dataclass(frozen=True, slots=True)
class Ptxas:
    """An assembler that triton would use."""

    name: Tool
    path: str
    version: str | None = None
    variable: str | None = None
    """The variable that names it; None for the one that triton brings along."""
    exists: bool = True
    problem: str | None = None
    """Why the version of one that is there is not known."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """A host compiler, as triton and inductor look for it."""

    command: str
    """What would be run; "" if nothing was found, or if the variable is empty."""
    path: str | None
    """The program behind it, None if there is none."""
    variable: str | None = None
    """CC or CXX, if it was named by that."""


@dataclass(frozen=True, slots=True)
class PythonHeader:
    """Python.h for the target's interpreter."""

    expected: str | None
    """Where that interpreter has it; None if that cannot be told."""
    found: str | None
    others: tuple[str, ...] = ()
    """Those of other versions, which do not count."""


@dataclass(frozen=True, slots=True)
class Place:
    """A directory in which libcuda is looked for; kept if it holds one, is listed with one, or is named outright."""

    path: str
    origin: Literal["TRITON_LIBCUDA_PATH", "ld.so.cache", "LD_LIBRARY_PATH", "LIBRARY_PATH", "linker"]
    holds: tuple[str, ...]
    """Those of libcuda.so and libcuda.so.1 that it holds."""
    listed: tuple[str, ...] = ()
    """The names under which the cache lists it."""


@dataclass(frozen=True, slots=True)
class JitTools:
    """Everything that compiling at run time takes."""

    triton: Triton | None = None
    ptxas: tuple[Ptxas, ...] = ()
    """Those named by variables first."""
    c: Compiler = Compiler("", None)
    cxx: Compiler = Compiler("", None)
    header: PythonHeader = PythonHeader(None, None)
    libcuda: tuple[Place, ...] = ()

    def ptxas_for(self, arch: int) -> tuple[Ptxas, ...]:
        """Return what triton tries for a compute capability (90 for 9.0), in order; nothing if that is not known."""
        if self.triton is None or not self.triton.known:
            return ()
        newer = self.triton.blackwell is not None and arch >= self.triton.blackwell
        return tuple(item for item in self.ptxas if item.name == ("ptxas-blackwell" if newer else "ptxas"))


def collect(target: Target, host: Host, interpreter: Interpreter, search_path: SearchPath) -> JitTools:
    """Look for all of it. Only what TRITON_PTXAS_PATH names is started, for its version."""
    triton = _triton(search_path)
    return JitTools(
        triton,
        (*_named(host, Versions.of(host, target)), *_bundled(triton, interpreter)) if triton else (),
        _compiler("CC", ("gcc", "clang"), host),
        _compiler("CXX", ("g++",), host),
        _header(interpreter, host),
        tuple(_places(host)),
    )


def _triton(search_path: SearchPath) -> Triton | None:
    for entry in search_path.entries:
        if not os.path.isdir(entry.path):
            continue
        text = _text(os.path.join(entry.path, "triton", "__init__.py"))
        said = _VERSION.search(text or "")
        version = said[1] if said else _recorded(entry.path)
        if text is not None or version is not None:
            row = toolchain(version)
            return Triton(version, entry.path, row.get("blackwell"), bool(row))
    return None


def _recorded(folder: str) -> str | None:
    try:
        names = (_DIST.match(name) for name in os.listdir(folder))
    except OSError:
        return None
    return next((match[1] for match in names if match), None)


def toolchain(version: str | None) -> Mapping[str, Any]:
    """Return the row of knowledge/triton_toolchain.toml for a release; empty if its series was not read."""
    match = re.match(r"\d+\.\d+(?=\.|\Z)", version or "")
    rows = (row for row in knowledge.rows("triton_toolchain") if match and row["triton"] == match[0])
    return next(rows, {})


def _named(host: Host, versions: Versions) -> Iterator[Ptxas]:
    for name in TOOLS:
        variable = f"TRITON_{name.upper().replace('-', '_')}_PATH"
        if host.env.get(variable):
            path = os.path.normpath(os.path.join(host.cwd, host.env[variable]))
            there = runnable(path, host)
            version, problem = versions.ask(path) if there else (None, None)
            yield Ptxas(name, path, version, variable, there, problem)


def _bundled(triton: Triton, interpreter: Interpreter) -> Iterator[Ptxas]:
    """Yield triton's own, never started. The table is of x86-64 wheels; a link may lead to any toolkit's."""
    release = (triton.version or "").partition("+")[0]
    rows = knowledge.rows("triton_ptxas") if interpreter.markers.get("platform_machine") == "x86_64" else ()
    row = next((row for row in rows if row["triton"] == release), {})
    for name in TOOLS:
        for folder in BUNDLED:
            path = os.path.join(triton.location, folder, name)
            if os.path.isfile(path):
                known = None if os.path.islink(path) else row.get(name.replace("-", "_"))
                version = known or written(path)
                yield Ptxas(name, path, version, problem=None if version else "its file names no version")


def _compiler(variable: str, commands: Iterable[str], host: Host) -> Compiler:
    """Resolve what triton runs: the variable's value as one word, flags and all, else the first command on PATH."""
    named = host.env.get(variable)
    if named is not None:
        path = os.path.normpath(os.path.join(host.cwd, named)) if "/" in named else which(named, host)
        return Compiler(named, path if named and path and runnable(path, host) else None, variable)
    for command in commands:
        path = which(command, host)
        if path:
            return Compiler(command, path)
    return Compiler("", None)


def _header(interpreter: Interpreter, host: Host) -> PythonHeader:
    folders = list(dict.fromkeys(_include(interpreter, host)))
    if not folders or interpreter.minor is None:
        return PythonHeader(None, None)
    expected = [os.path.join(folder, "Python.h") for folder in folders]
    found = [path for path in expected if _there(path, host)] + list(_by_variable(interpreter.minor, host))
    parents = dict.fromkeys(os.path.dirname(folder) for folder in folders)
    others = (path for parent in parents for path in _siblings(parent, host) if path not in expected)
    return PythonHeader(expected[-1], found[0] if found else None, tuple(others))


def _include(interpreter: Interpreter, host: Host) -> Iterator[str]:
    """Yield the interpreter's include directory.

    Debian's own scheme says /usr/local/include where the headers are in /usr/include, as triton knows (`posix_local` in
    triton/runtime/build.py).
    """
    if interpreter.include:
        yield interpreter.include
        if "/local/include/" in interpreter.include:
            yield interpreter.include.replace("/local/include/", "/include/")
    elif interpreter.base_prefix and interpreter.minor:
        named = interpreter.base_prefix if interpreter.kind == "venv" else None
        base = host_name(interpreter.base_prefix, host) or named
        if base:
            yield f"{base}/include/python{interpreter.minor}{'t' if interpreter.free_threaded else ''}"


def _by_variable(minor: str, host: Host) -> Iterator[str]:
    """Yield headers of the right version in directories that gcc and clang search because of variables."""
    for variable in ("CPATH", "C_INCLUDE_PATH"):
        for folder in filter(None, host.env.get(variable, "").split(os.pathsep)):
            path = os.path.join(host.cwd, folder, "Python.h")
            level = _text(host.at(host.resolve(os.path.join(host.cwd, folder, "patchlevel.h"))))
            if _there(path, host) and ".".join(_PATCHLEVEL.findall(level or "")) == minor:
                yield path


def _siblings(parent: str, host: Host) -> list[str]:
    folder = host.at(host.resolve(parent))
    return [os.path.join(parent, name) for name in sorted(glob.glob("python3*/Python.h", root_dir=folder))]


def _places(host: Host) -> Iterator[Place]:
    cached: dict[str, list[str]] = {}
    for entry in ld_cache.read(host) or ():
        if LINK in entry.name or LINK in entry.path:
            cached.setdefault(os.path.dirname(entry.path), []).append(entry.name)
    named = host.env.get("TRITON_LIBCUDA_PATH")
    if named:
        yield Place(named, "TRITON_LIBCUDA_PATH", _holds(named, host))
    for folder, names in cached.items():
        yield Place(folder, "ld.so.cache", _holds(folder, host), tuple(dict.fromkeys(names)))
    variables: tuple[Literal["LD_LIBRARY_PATH", "LIBRARY_PATH"], ...] = ("LD_LIBRARY_PATH", "LIBRARY_PATH")
    for variable in variables:
        for folder in dict.fromkeys(filter(None, host.env.get(variable, "").split(os.pathsep))):
            if holds := _holds(folder, host):
                yield Place(folder, variable, holds)
    for folder in LINKER:
        if holds := _holds(folder, host):
            yield Place(folder, "linker", holds)


def _holds(folder: str, host: Host) -> tuple[str, ...]:
    return tuple(name for name in (LINK, LIBRARY) if _there(os.path.join(host.cwd, folder, name), host))


def _there(path: str, host: Host) -> bool:
    return os.path.isfile(host.at(host.resolve(path)))


def _text(path: str) -> str | None:
    """Read the beginning of a regular file, None if there is none."""
    try:
        if not os.path.isfile(path):
            return None
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read(4096)
    except OSError:
        return None
