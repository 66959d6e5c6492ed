"""Compiled extensions that come without a promise: which torch symbols they miss, which glibc they need.

Looked at are the shared objects of distributions that require torch, are known to be built against it
(knowledge/extension_wheels.toml), or came in a wheel tagged plain `linux_*`: a manylinux tag promises an old glibc
(PEP 600), and what does not use torch cannot miss its symbols. Read by the ELF hash tables; nothing is loaded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from envdoctor import knowledge
from envdoctor.facts import elf, records
from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Target, Unavailable
from envdoctor.system.host import Host

SHOWN = 10
"""Missing symbols that are kept of one object."""
OBJECTS = 200
"""Shared objects of one distribution that are looked at."""
_OBJECT = re.compile(r".+\.so(?:\.\d+)*$")
_TORCH = re.compile(r"torch(?![\w.-])", re.IGNORECASE)
_SYMBOLS = re.compile(rb"_Z(?:T[VIST])?N[KVRO]*(?:3c10|2at|5torch)|_Z\d+THP")
"""Itanium C++ ABI names in the namespaces c10, at and torch, and torch's functions for Python objects (THP...)."""
_TORCH_LIBRARY = re.compile(r"lib(?:torch|c10|shm)\w*\.so$")


@dataclass(frozen=True, slots=True)
class Extension:
    """One shared object."""

    name: str
    """Distribution, normalised."""
    path: str
    """Relative to site-packages."""
    uses_torch: bool = False
    missing: tuple[str, ...] = ()
    """Torch symbols that the installed torch has not, mangled; the first few."""
    missing_count: int = 0
    missing_libraries: tuple[str, ...] = ()
    """Libraries of torch that it needs and the installed torch has not."""
    cuda: int | None = None
    """CUDA major of the runtime that it needs (libcudart.so.12); None if it needs none."""
    glibc: str | None = None
    """Newest version of glibc that it names, e.g. `2.32`."""
    problem: str | None = None
    """Why nothing can be said of it."""


@dataclass(frozen=True, slots=True)
class Extensions:
    """Everything that was looked at."""

    items: tuple[Extension, ...] = ()
    unjudged: str | None = None
    """Why torch symbols were not looked for, if so."""


def collect(
    target: Target,  # noqa: ARG001 - every collector has this shape
    host: Host,  # noqa: ARG001
    distributions: Distributions,
    torch_build: TorchBuild | Unavailable,
) -> Extensions:
    """Read the shared objects of the distributions that promise nothing."""
    known = frozenset(row["name"] for row in knowledge.rows("extension_wheels"))
    torch = _Torch("" if isinstance(torch_build, Unavailable) else os.path.dirname(torch_build.path))
    judged = "libc10.so" in torch.names
    found: list[Extension] = []
    for item in distributions.own:
        if _is_suspect(item, known):
            found += _objects(item, torch if judged else None)
    absent = torch_build.reason if isinstance(torch_build, Unavailable) else f"{torch.folder} has no libc10.so"
    return Extensions(tuple(found), torch.problem if judged else absent)


def _is_suspect(item: Distribution, known: frozenset[str]) -> bool:
    platforms = [tag.rpartition("-")[2] for tag in item.tags]
    if item.name == "torch" or item.name.startswith("nvidia-") or (platforms and set(platforms) == {"any"}):
        return False
    plain = not platforms or all(platform.startswith("linux_") for platform in platforms)
    return plain or item.name in known or any(_TORCH.match(text) for text in item.requires)


def _objects(item: Distribution, torch: _Torch | None) -> Iterable[Extension]:
    paths = [path for path in records.paths(item.metadata) if _OBJECT.match(path)][:OBJECTS]
    for path in paths:
        whole = os.path.join(item.location, path)
        if os.path.isfile(whole):
            others = [os.path.join(item.location, other) for other in paths if other != path]
            yield _extension(item.name, path, whole, others, torch)


def _extension(name: str, path: str, whole: str, others: Sequence[str], torch: _Torch | None) -> Extension:
    found = elf.wants(whole, _SYMBOLS)
    if isinstance(found, Unavailable):
        return Extension(name, path, problem=found.reason)
    said, symbols = found
    needed = [library for library in said.needed if _TORCH_LIBRARY.match(library)]
    missing: Sequence[str] = ()
    libraries: Sequence[str] = ()
    if torch is not None and (symbols or needed):
        beside = {os.path.basename(other) for other in others}
        libraries = [library for library in needed if library not in torch.names and library not in beside]
        missing = torch.without(symbols, others)
    return Extension(
        name,
        path,
        bool(symbols or needed),
        tuple(missing[:SHOWN]),
        len(missing),
        tuple(libraries),
        cuda_major(said.needed),
        newest_glibc(said.versions),
    )


def cuda_major(needed: Iterable[str]) -> int | None:
    """Return the CUDA major that libcudart's soname names: 12 of libcudart.so.12, 11 of libcudart.so.11.0."""
    return next((int(match[1]) for name in needed if (match := re.match(r"libcudart\.so\.(\d+)", name))), None)


def newest_glibc(versions: Iterable[str]) -> str | None:
    """Return the newest of the versions `GLIBC_x.y`, without the prefix."""
    found = [match[1] for version in versions if (match := re.fullmatch(r"GLIBC_(\d+(?:\.\d+)+)", version))]
    return max(found, key=lambda text: tuple(map(int, text.split("."))), default=None)


class _Torch:
    """The symbols of the installed torch."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.join(folder, "lib")
        try:
            self.names = frozenset(os.listdir(self.folder) if folder else ())
        except OSError:
            self.names = frozenset()
        order = ["libtorch_cpu.so", "libc10.so", "libtorch_python.so", "libc10_cuda.so", "libtorch_cuda.so"]
        rest = sorted(name for name in self.names if _TORCH_LIBRARY.match(name) and name not in order)
        self.libraries = [os.path.join(self.folder, name) for name in [*order, *rest] if name in self.names]
        self.problem: str | None = None
        """The first library that could not be read; no symbol is called missing then."""

    def without(self, symbols: Iterable[str], others: Sequence[str]) -> list[str]:
        """Return the symbols that neither torch nor the extension's own other objects define; sorted."""
        left = frozenset(symbols)
        for path in (*self.libraries, *others):
            if not left or self.problem:
                break
            found = elf.defined(path, left)
            if not isinstance(found, Unavailable):
                left -= found
            elif path in self.libraries:
                self.problem = found.reason
        return [] if self.problem else sorted(left)
