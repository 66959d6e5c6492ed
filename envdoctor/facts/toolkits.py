"""CUDA toolkits: which ones there are, which one a build would take, and which version each part of one says it is.

A toolkit is a directory with `bin/nvcc` or `cuda.h`. NVIDIA's runtime wheels are none (knowledge/nvidia_families.toml),
and the CUDA number that nvidia-smi prints is what the driver supports, not what is installed; neither is looked at.
"""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from envdoctor.facts.cuda_tools import Versions, host_name, number, release, runnable, which
from envdoctor.model import Target
from envdoctor.system.host import Host
from envdoctor.system.reading import head

DEFAULT = "/usr/local/cuda"
"""Where NVIDIA's installers put a link to the toolkit in use (CUDA Installation Guide for Linux)."""
HEADER_LIMIT = 1 << 18
"""Bytes of cuda.h that are read; the version stands within the first 15,000 of CUDA 13.0's."""
_HEADER = re.compile(r"^\s*#\s*define\s+CUDA_VERSION\s+(\d+)", re.MULTILINE)
_WRAPPER = re.compile(rb"^\s*exec\s+[\"']?(/[^\s\"']+/nvcc)[\"']?(?:\s|$)", re.MULTILINE)
_EXTENSIONS = 200
"""Folders of torch's extension cache that are looked at."""

Way = Literal["CUDA_HOME", "CUDA_PATH", "PATH", "default"]


@dataclass(frozen=True, slots=True)
class Named:
    """A toolkit as a variable, PATH or the default names it."""

    way: Way
    path: str
    """The directory that torch.utils.cpp_extension would call CUDA_HOME; for PATH, two levels above nvcc."""
    prefix: str
    """The toolkit's real directory, behind links and wrapper scripts."""
    exists: bool = True
    nvcc: str | None = None
    """The nvcc that a build would start."""


@dataclass(frozen=True, slots=True)
class Header:
    """A cuda.h and the release that it says it is."""

    path: str
    release: str


@dataclass(frozen=True, slots=True)
class Toolkit:
    """One toolkit. What is None is not there, or not known."""

    prefix: str
    """Its real directory."""
    nvcc: str | None = None
    nvcc_version: str | None = None
    """E.g. `12.8.93`."""
    nvcc_problem: str | None = None
    """Why the version of an nvcc that is there is not known."""
    headers: tuple[Header, ...] = ()
    recorded: str | None = None
    """Version that its version.json or version.txt records, e.g. `12.8.1`."""
    own: bool = False
    """True if it lies in the environment."""

    @property
    def version(self) -> str | None:
        """Its version as nvcc says, else as its record says, else as its headers say."""
        return self.nvcc_version or self.recorded or next((header.release for header in self.headers), None)


@dataclass(frozen=True, slots=True)
class Built:
    """An extension that torch has compiled with nvcc while a job ran."""

    name: str
    folder: str
    """E.g. `py312_cu130`, the interpreter and torch it was built for; "" where TORCH_EXTENSIONS_DIR names the place."""


@dataclass(frozen=True, slots=True)
class Toolkits:
    """All toolkits, each once."""

    items: tuple[Toolkit, ...] = ()
    named: tuple[Named, ...] = ()
    """In the order in which torch.utils.cpp_extension tries them."""
    built: tuple[Built, ...] = ()

    @property
    def chosen(self) -> Named | None:
        """The one that torch.utils.cpp_extension takes.

        CUDA_HOME, else CUDA_PATH, existing or not; else the nvcc of PATH; else /usr/local/cuda if it exists
        (_find_cuda_home in torch/utils/cpp_extension.py of torch 2.13.0).
        """
        return next(iter(self.named), None)

    def at(self, prefix: str) -> Toolkit | None:
        """Return the toolkit of a real directory."""
        return next((item for item in self.items if item.prefix == prefix), None)

    def record(self) -> Mapping[str, str]:
        """Return what a seal keeps: real directory -> version, and under `build` the directory that a build takes."""
        versions = {item.prefix: item.version or "unknown" for item in self.items}
        return versions | ({"build": self.chosen.prefix} if self.chosen and self.chosen.exists else {})


def collect(target: Target, host: Host) -> Toolkits:
    """Look in all the places; ask each nvcc for its version, at most 5 s in all."""
    named = tuple(_named(host))
    own = tuple(_of_environment(target, host))
    prefixes = dict.fromkeys([*(item.prefix for item in named if item.exists), *_installed(host), *own])
    versions = Versions.of(host, target)
    items = (_toolkit(prefix, host, versions, own=prefix in own) for prefix in prefixes)
    return Toolkits(tuple(item for item in items if item), named, tuple(_built(host)))


def _named(host: Host) -> Iterator[Named]:
    ways: tuple[Way, ...] = ("CUDA_HOME", "CUDA_PATH")
    for way in ways:
        if host.env.get(way):
            yield _name(way, os.path.normpath(os.path.join(host.cwd, host.env[way])), host)
    nvcc = which("nvcc", host)
    if nvcc is not None:
        yield _name("PATH", os.path.dirname(os.path.dirname(nvcc)), host)
    if os.path.isdir(host.at(host.resolve(DEFAULT))):
        yield _name("default", DEFAULT, host)


def _name(way: Way, path: str, host: Host) -> Named:
    nvcc = os.path.join(path, "bin", "nvcc")
    exists = os.path.isdir(host.at(host.resolve(path)))
    return Named(way, path, _real(path, host), exists, nvcc if runnable(nvcc, host) else None)


def _real(path: str, host: Host) -> str:
    """Follow links; from a directory without headers also the link or wrapper script that its nvcc is."""
    real = host.resolve(path)
    if _headers(real, host):
        return real
    nvcc = host.resolve(os.path.join(real, "bin", "nvcc"))
    match = _WRAPPER.search(_head(nvcc, host, 4096))
    if match:
        nvcc = host.resolve(os.fsdecode(match[1]))
    return nvcc.removesuffix("/bin/nvcc") if nvcc.endswith("/bin/nvcc") and runnable(nvcc, host) else real


def _installed(host: Host) -> Iterator[str]:
    """Yield the real directories behind /usr/local/cuda*, the newest release last."""
    folder = host.at(host.resolve("/usr/local"))
    names = os.listdir(folder) if os.path.isdir(folder) else []
    for name in sorted((name for name in names if name.startswith("cuda")), key=lambda name: (number(name), name)):
        yield host.resolve(f"/usr/local/{name}")


def _of_environment(target: Target, host: Host) -> Iterator[str]:
    """Yield what the environment itself holds: conda's, and wheels that bring an nvcc along."""
    prefix = host_name(target.prefix, host)
    if prefix is None:
        return
    real = host.resolve(prefix)
    if runnable(os.path.join(real, "bin", "nvcc"), host) or _headers(real, host):
        yield real
    wheels = os.path.join("lib", "python3*", "site-packages", "nvidia", "*", "bin", "nvcc")
    for nvcc in sorted(glob.glob(wheels, root_dir=host.at(real))):
        if runnable(os.path.join(real, nvcc), host):
            yield host.resolve(os.path.join(real, os.path.dirname(os.path.dirname(nvcc))))


def _toolkit(prefix: str, host: Host, versions: Versions, *, own: bool) -> Toolkit | None:
    nvcc = os.path.join(prefix, "bin", "nvcc")
    there = runnable(nvcc, host)
    headers = _headers(prefix, host)
    if not there and not headers:
        return None
    version, problem = versions.ask(nvcc) if there else (None, None)
    return Toolkit(prefix, nvcc if there else None, version, problem, headers, _recorded(prefix, host), own)


def _headers(prefix: str, host: Host) -> tuple[Header, ...]:
    """Read every cuda.h of a toolkit once; conda and NVIDIA's packages keep them below targets/<machine>."""
    folder = host.at(prefix)
    found: dict[str, Header] = {}
    for name in ("include/cuda.h", *sorted(glob.glob("targets/*/include/cuda.h", root_dir=folder))):
        path = host.resolve(os.path.join(prefix, name))
        version = parse_header(_head(path, host, HEADER_LIMIT).decode(errors="replace"))
        if version:
            found.setdefault(path, Header(os.path.join(prefix, name), version))
    return tuple(found.values())


def parse_header(text: str) -> str | None:
    """Return the release of a cuda.h: 13.0 of `#define CUDA_VERSION 13000` (1000 * major + 10 * minor)."""
    match = _HEADER.search(text)
    return f"{int(match[1]) // 1000}.{int(match[1]) % 1000 // 10}" if match and len(match[1]) < 7 else None


def _recorded(prefix: str, host: Host) -> str | None:
    """Read version.json (CUDA 11 and later), else version.txt (up to 10.2)."""
    path = host.resolve(os.path.join(prefix, "version.json"))
    found = parse_json(_head(path, host, 1 << 16).decode(errors="replace"))
    path = host.resolve(os.path.join(prefix, "version.txt"))
    return found or parse_text(_head(path, host, 4096).decode(errors="replace"))


def parse_json(text: str) -> str | None:
    """Return the version of the entry `cuda` of a version.json."""
    try:
        version = json.loads(text)["cuda"]["version"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return version if isinstance(version, str) and release(version) else None


def parse_text(text: str) -> str | None:
    """Return the version in a version.txt, `CUDA Version 10.1.243`."""
    match = re.search(r"CUDA Version (\d+(?:\.\d+)+)", text)
    return match[1] if match else None


def _head(path: str, host: Host, limit: int) -> bytes:
    """Read the beginning of a regular file; b"" if it is none. `path` has no links left."""
    return head(host.at(path), limit)


def _built(host: Host) -> Iterator[Built]:
    """Yield what lies in torch's extension cache and was built with nvcc.

    Places: _get_build_directory in torch/utils/cpp_extension.py, user_cache_dir in torch/_appdirs.py (torch 2.13.0).
    """
    if host.root:
        return
    place = host.env.get("TORCH_EXTENSIONS_DIR")
    cache = host.env.get("XDG_CACHE_HOME") or os.path.join(host.home, ".cache")
    folder = os.path.join(host.cwd, place) if place else os.path.join(cache, "torch_extensions")
    pattern = "*/build.ninja" if place else "py*/*/build.ninja"
    for name in sorted(glob.glob(pattern, root_dir=folder))[:_EXTENSIONS]:
        where = os.path.dirname(name)
        if b"nvcc" in _head(os.path.join(folder, name), host, 1 << 16):
            yield Built(os.path.basename(where), os.path.dirname(where))
