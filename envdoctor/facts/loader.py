"""Which file each CUDA library that torch needs would be loaded from, by the loader's rules; nothing is loaded.

What torch opens, in which order: `_load_global_deps` and `_preload_cuda_deps` of torch/__init__.py (read in 2.2.2,
2.5.1, 2.6.0, 2.7.1, 2.8.0, 2.9.1, 2.10.0, 2.11.0 and 2.13.0), then `torch._C`, then by name at run time the libraries
in LATER (strings of libtorch_cuda.so 2.11.0). What it preloads is read from the target's own torch/__init__.py.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from envdoctor import knowledge
from envdoctor.facts.driver_files import kind_of
from envdoctor.facts.interpreter import Interpreter
from envdoctor.facts.linking import By, Linker, Loaded, Resolution, by_folder, version_of
from envdoctor.facts.nvidia_wheels import NvidiaWheels
from envdoctor.facts.search_path import SearchPath
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Target, Unavailable
from envdoctor.system.host import Host
from envdoctor.system.reading import head

__all__ = ["By", "Copy", "Folder", "Loader", "Resolution", "collect"]

LATER = ("libcaffe2_nvrtc.so", "libtorch_cuda_linalg.so")
"""Libraries of torch that it opens by name when they are first used."""
SOURCE_LIMIT = 1 << 20
"""Bytes of torch/__init__.py that are read."""
_STEM = re.compile(r"(.+?)\.so(?:\.|$)")
_PAIR = re.compile(r'\(?"(\w+)"[,:]\s*"(lib[^"]+)"')


@dataclass(frozen=True, slots=True)
class Copy:
    """A library that lies in a directory which the loader is told to search."""

    soname: str
    path: str
    """Where it is to be opened."""
    version: str | None = None
    """Version in the name of the file behind it, e.g. `9.1.0`; None if the name has none."""
    bundled: str | None = None
    """The wheel's or torch's own copy of it, if there is one and it is another file."""


@dataclass(frozen=True, slots=True)
class Folder:
    """One entry of LD_LIBRARY_PATH."""

    path: str
    """As the loader understands it: an empty entry is the current directory."""
    exists: bool = True
    kind: Literal["native", "compat", "stub"] = "native"
    """`stub` for a toolkit's stubs, `compat` for a forward-compatibility package's directory."""
    libraries: tuple[Copy, ...] = ()
    """CUDA and driver libraries in it."""


@dataclass(frozen=True, slots=True)
class Loader:
    """What the loader is told, and what it would do."""

    folders: tuple[Folder, ...] = ()
    """LD_LIBRARY_PATH."""
    conda: Folder | None = None
    """The library directory of a conda environment, whose interpreter looks there."""
    preload: tuple[str, ...] = ()
    """LD_PRELOAD."""
    resolutions: tuple[Resolution, ...] = ()
    """Of each CUDA library that torch needs, in the order in which torch would load them."""
    unknown: str | None = None
    """Why there are no resolutions, if there are none."""

    def resolution(self, soname: str) -> Resolution | None:
        """Return what became of one name; None if nothing is known of it."""
        return next((item for item in self.resolutions if item.soname == soname), None)


def collect(
    target: Target,
    host: Host,
    interpreter: Interpreter,
    search_path: SearchPath,
    nvidia_wheels: NvidiaWheels,
    torch_build: TorchBuild | Unavailable,
) -> Loader:
    """Describe LD_LIBRARY_PATH and follow what `import torch` would load, if torch is a CUDA build."""
    bundled = dict(nvidia_wheels.bundled())
    torch = None if isinstance(torch_build, Unavailable) else os.path.dirname(torch_build.path)
    stems = _stems(bundled)
    for name in _names(os.path.join(torch, "lib")) if torch else ():
        if ".so." in name and stem(name) in stems:
            bundled.setdefault(name, os.path.join(torch or "", "lib", name))
    folders = tuple(_folder(entry, host, bundled, stems) for entry in _entries(host))
    preload = tuple(re.split(r"[: ]+", host.env["LD_PRELOAD"].strip(": "))) if host.env.get("LD_PRELOAD") else ()
    conda = os.path.join(target.prefix.removeprefix(host.root), "lib") if interpreter.kind == "conda" else None
    near = _folder(conda, host, bundled, stems) if conda else None
    if isinstance(torch_build, Unavailable):
        return Loader(folders, near, preload, unknown=torch_build.reason)
    if torch_build.cuda is None:
        return Loader(folders, near, preload, unknown="torch is not built for CUDA")
    return Loader(folders, near, preload, *_follow(host, interpreter, search_path, torch_build, bundled, preload))


def stem(name: str) -> str:
    """Return a library's name without version: `libcudart` of `libcudart.so.13`."""
    match = _STEM.match(name)
    return match[1] if match else name


def _stems(bundled: Mapping[str, str]) -> frozenset[str]:
    """Return the names, without versions, of NVIDIA's libraries."""
    known = (name for row in knowledge.rows("nvidia_families") for name in row["sonames"])
    return frozenset(stem(name) for name in (*known, *bundled))


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _entries(host: Host) -> list[str]:
    """Split LD_LIBRARY_PATH as ld.so(8) says: at colons and semicolons, empty entries being the current directory."""
    value = host.env.get("LD_LIBRARY_PATH", "")
    return [os.path.normpath(os.path.join(host.cwd, part)) for part in re.split("[:;]", value)] if value else []


def _folder(path: str, host: Host, bundled: Mapping[str, str], stems: frozenset[str]) -> Folder:
    """Look what a directory holds of NVIDIA's: names that end in a version, and the driver's libraries by any name."""
    real = host.resolve(path)
    copies = []
    for name in _names(host.at(real)):
        driver = name.startswith(("libcuda.so", "libnvidia-ml.so"))
        if driver or (".so." in name and stem(name) in stems):
            file = host.resolve(os.path.join(path, name))
            if os.path.isfile(host.at(file)):
                copies.append(_copy(name, host.at(os.path.join(path, name)), host.at(file), bundled.get(name)))
    kind = kind_of(os.path.join(path, "x"), os.path.join(real, "x"))
    return Folder(path, os.path.isdir(host.at(real)), kind, tuple(copies))


def _copy(name: str, path: str, real: str, own: str | None) -> Copy:
    other = own if own is not None and os.path.realpath(own) != os.path.realpath(real) else None
    return Copy(name, path, version_of(real), other)


def _follow(
    host: Host,
    interpreter: Interpreter,
    search_path: SearchPath,
    build: TorchBuild,
    bundled: Mapping[str, str],
    preload: Sequence[str],
) -> tuple[tuple[Resolution, ...], str | None]:
    """Open what `import torch` opens, one after the other."""
    folder = os.path.dirname(build.path)
    ours = _names(os.path.join(folder, "lib"))
    extension = next((name for name in _names(folder) if re.match(r"_C\..*so$", name)), None)
    if "libtorch_cuda.so" not in ours or extension is None:
        return (), f"{folder} has no libtorch_cuda.so or no _C"
    stems = _stems(bundled) | {stem(name) for name in ours}
    library_path = [host.at(entry) for entry in _entries(host)]
    linker = Linker(host, library_path, interpreter.chain[-1], lambda name: stem(name) in stems)
    for item in preload:
        path = item if "/" in item else next((path for path, _ in linker.candidates(item)), None)
        if path is not None:
            linker.preload(host.at(path) if "/" in item else path, "LD_PRELOAD")
    lib = os.path.join(folder, "lib")
    linker.open(os.path.join(lib, "libtorch_global_deps.so"))
    _as_torch_preloads(linker, os.path.join(folder, "__init__.py"), search_path, build.cuda or "")
    linker.open(os.path.join(folder, extension))
    cuda = linker.loaded.get("libtorch_cuda.so")
    for name in LATER if cuda else ():
        if name in ours:
            linker.open(os.path.join(lib, name), cuda)
    _at_run_time(linker, bundled)
    nvidia = _stems(bundled)
    return tuple(item for name, item in linker.resolutions.items() if stem(name) in nvidia), None


def _as_torch_preloads(linker: Linker, source: str, search_path: SearchPath, cuda: str) -> None:
    """Load what torch/__init__.py loads by path; it gives up at the first library that it does not find."""
    marker, pairs = parse_preloads(head(source, SOURCE_LIMIT).decode(errors="replace"))
    runtime = next((item.path for name, item in linker.loaded.items() if name.startswith("libcudart.so")), None)
    if runtime is None or marker not in runtime:
        return
    for folder, pattern in pairs:
        path = next(_wheel_paths(search_path, folder, pattern, cuda.partition(".")[0]), None)
        if path is None or isinstance(linker.preload(path, "torch"), Unavailable):
            return


def parse_preloads(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return what torch/__init__.py loads by path after its global dependencies are loaded: (wheel folder, pattern).

    Before them stands what the path of the loaded libcudart must hold for it. ("", ()) if it preloads nothing.
    """
    body = re.search(r"\ndef _load_global_deps\(.*?\n    except OSError", text, re.DOTALL)
    marker = re.search(r'if "([^"]+)" not in _maps', body[0]) if body else None
    if body is None or marker is None:
        return "", ()
    calls = re.findall(r"_preload_cuda_\w+\(([^)]*)\)", body[0][marker.end() - body.start() :])
    if calls == [""]:
        listed = re.search(r"\ndef _preload_cuda_deps\(.*?\n    \]", text, re.DOTALL)
        return marker[1], tuple(_PAIR.findall(listed[0])) if listed else ()
    return marker[1], tuple(pair for call in calls for pair in _PAIR.findall(call))


def _wheel_paths(search_path: SearchPath, folder: str, pattern: str, major: str) -> Iterator[str]:
    """Look where torch's `_get_cuda_dep_paths` looks."""
    for entry in search_path.entries:
        base = glob.escape(entry.path)
        for place in (f"nvidia/{folder}", f"nvidia/cu{major}", folder):
            yield from sorted(glob.glob(os.path.join(base, place, "lib", pattern)))


def _at_run_time(linker: Linker, bundled: Mapping[str, str]) -> None:
    """Find what a loaded wheel library opens by name: its parts beside it (libcudnn_ops beside libcudnn)."""
    groups = by_folder(linker.loaded)
    for name, path in bundled.items():
        if name in linker.loaded or name in linker.resolutions:
            continue
        opener = next((item for item in groups.get(os.path.dirname(path), ()) if _is_part(name, item)), None)
        if opener is not None:
            linker.need(name, opener)


def _is_part(name: str, whole: Loaded) -> bool:
    return stem(name).startswith((f"{stem(os.path.basename(whole.path))}_", f"{stem(os.path.basename(whole.path))}-"))
