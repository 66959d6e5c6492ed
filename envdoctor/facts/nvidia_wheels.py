"""NVIDIA's runtime wheels in the environment: the CUDA major each is for, and the libraries it put there.

None of them is a toolkit. The major is told by the directory (`nvidia/cu13`), else by the suffix of the name (`-cu12`),
else by knowledge/nvidia_families.toml; version numbers say nothing of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from envdoctor import knowledge
from envdoctor.facts import records
from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.model import Target
from envdoctor.system.host import Host
from envdoctor.system.rooted import joined

_SUFFIX = re.compile(r"-cu(\d{2})$")
_DIRECTORY = re.compile(r"(?:^|/)nvidia/cu(\d{2})/")
_LIBRARY = re.compile(r"[^/]+\.so(?:\.\d+)*$")


@dataclass(frozen=True, slots=True)
class Library:
    """A shared library of a wheel."""

    soname: str
    """Its file name, which in these wheels is its soname."""
    path: str
    """Absolute."""
    exists: bool = True


@dataclass(frozen=True, slots=True)
class NvidiaWheel:
    """One of NVIDIA's distributions."""

    name: str
    """Normalised."""
    version: str | None
    cuda: int | None
    """CUDA major; None if it belongs to none, or to one that is not known."""
    libraries: tuple[Library, ...] = ()

    @property
    def library(self) -> str:
        """The name without the suffix for the CUDA major: what both families have."""
        return _SUFFIX.sub("", self.name)


@dataclass(frozen=True, slots=True)
class NvidiaWheels:
    """All of them, in the order of sys.path."""

    wheels: tuple[NvidiaWheel, ...] = ()

    def bundled(self) -> Mapping[str, str]:
        """Return the libraries that are on disk: soname -> path, the first on the path winning."""
        found: dict[str, str] = {}
        for wheel in self.wheels:
            for library in wheel.libraries:
                if library.exists:
                    found.setdefault(library.soname, library.path)
        return found


def collect(target: Target, host: Host, distributions: Distributions) -> NvidiaWheels:  # noqa: ARG001
    """Read the RECORDs of NVIDIA's wheels."""
    names = families()
    items = [item for item in distributions.active.values() if item.name in names or item.name.startswith("nvidia-")]
    return NvidiaWheels(tuple(_wheel(item, host.root) for item in items))


@cache
def families() -> Mapping[str, int]:
    """Return the names that are known, with the CUDA major of each."""
    return {row["name"]: row["cuda"] for row in knowledge.rows("nvidia_families")}


def family(name: str, paths: Iterable[str] = ()) -> int | None:
    """Tell the CUDA major of a wheel by what it owns and by its name."""
    inside = next((match[1] for path in paths if (match := _DIRECTORY.search(path))), None)
    suffix = _SUFFIX.search(name)
    number = inside or (suffix[1] if suffix else None)
    return int(number) if number else families().get(name)


def _wheel(item: Distribution, root: str) -> NvidiaWheel:
    paths = [path for path in records.paths(item.metadata) if _LIBRARY.search(path)]
    libraries = []
    for path in paths:
        whole = joined(root, item.location, path)
        libraries.append(Library(os.path.basename(path), whole, os.path.isfile(whole)))
    return NvidiaWheel(item.name, item.version, family(item.name, paths), tuple(libraries))
