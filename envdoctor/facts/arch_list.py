"""Which GPU architectures the installed torch holds code for, without importing it.

`torch.cuda.get_arch_list()` returns a text that stands in torch/lib/libtorch_python.so, words apart by blanks and the
whole between NUL bytes (read in the wheels of 2.0.1, 2.5.1, 2.11.0, 2.14.1 and 2.15.0; builds without CUDA have none).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from envdoctor import knowledge
from envdoctor.facts.interpreter import Interpreter
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Target, Unavailable
from envdoctor.system.host import Host

if TYPE_CHECKING:
    import mmap

LIBRARY_LIMIT = 1 << 30
"""Bytes of libtorch_python.so that are searched; that of 2.14.1 has 34 MB."""
RULES = "DEVICE_REQUIREMENT in torch/cuda/__init__.py of torch 2.13.0"
_ARCH = re.compile(r"(sm|compute)_(\d+)(\d)([af]?)\Z")
_LIST = re.compile(rb"((?:sm|compute)_\d+[af]?(?: (?:sm|compute)_\d+[af]?)*)\0")


@dataclass(frozen=True, slots=True)
class ArchList:
    """The architectures."""

    archs: tuple[str, ...]
    """E.g. `sm_90`, machine code for one architecture, and `compute_90`, PTX that newer GPUs can compile."""
    source: Literal["file", "knowledge"]
    detail: str
    """The file that was read, or the source of the table's row."""
    ptx: bool | None = None
    """True if PTX of the newest architecture is included; None if that is not settled."""


def collect(
    target: Target,  # noqa: ARG001 - every collector has this shape
    host: Host,  # noqa: ARG001
    interpreter: Interpreter,
    torch_build: TorchBuild,
) -> ArchList | Unavailable:
    """Read the list from the library, else look the build up in the table, which is of x86-64 builds."""
    if torch_build.cuda is None:
        return Unavailable("torch is built without CUDA")
    path = os.path.join(os.path.dirname(torch_build.path), "lib", "libtorch_python.so")
    archs = read(path)
    if archs:
        return ArchList(archs, "file", path, any(arch.startswith("compute_") for arch in archs))
    known = look_up(torch_build.version or "") if interpreter.markers.get("platform_machine") == "x86_64" else None
    return known or Unavailable(f"the architectures of torch {torch_build.version} are not known")


def read(path: str) -> tuple[str, ...]:
    """Find the list in a library; empty if there is none, or more than one and none of them plainly the longest."""
    import mmap

    try:
        if not os.path.isfile(path) or not 0 < os.path.getsize(path) <= LIBRARY_LIMIT:
            return ()
        with open(path, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            # find() is ten times as fast as the expression; PTX comes last (select_compute_arch.cmake of torch 2.13.0)
            lists = set(_lists(content, b"\0sm_")) or set(_lists(content, b"\0compute_"))
            found = sorted(lists, key=len)
    except (OSError, ValueError):
        return ()
    if len(found) > 1 and len(found[-1]) == len(found[-2]):
        return ()
    return found[-1] if found else ()


def _lists(content: mmap.mmap, mark: bytes) -> Iterator[tuple[str, ...]]:
    at = content.find(mark)
    while at >= 0:
        match = _LIST.match(content[at + 1 : at + 4096])
        if match:
            yield tuple(match[1].decode().split(" "))
        at = content.find(mark, at + 1)


def look_up(version: str) -> ArchList | None:
    """Return the row of knowledge/torch_arch.toml for a build: of the very release, else of its series."""
    public, _, label = version.partition("+")
    series = ".".join(public.split(".")[:2])
    for build in (f"{public}+{label}", f"{series}+{label}"):
        for row in knowledge.rows("torch_arch"):
            if row["build"] == build:
                return ArchList(tuple(row["arch"]), "knowledge", row["source"], row.get("ptx"))
    return None


def runs(capability: tuple[int, ...], archs: Sequence[str], *, ptx: bool | None = None) -> bool | None:
    """Tell whether a GPU can run one of these; None if that hangs on PTX of the last one, which is not settled.

    `ptx` says whether PTX of the last one is included, for lists that leave it out.
    """
    if any(_fits(capability, arch) for arch in archs):
        return True
    last = _ARCH.match(archs[-1]) if archs else None
    newer = last is not None and (int(last[2]), int(last[3])) <= capability
    return ptx if newer else False


def _fits(capability: tuple[int, ...], arch: str) -> bool:
    """Apply the rules to one entry: `a` is for one GPU only, `f` for the later ones of its family."""
    match = _ARCH.match(arch)
    if match is None:
        return False
    code = (int(match[2]), int(match[3]))
    if match[4] == "a":
        return code == capability
    if match[1] == "compute":
        return code <= capability and (not match[4] or code[0] == capability[0])
    apart = {row["code"]: row["runs_on"] for row in knowledge.rows("arch_apart")}
    name = f"sm_{match[2]}{match[3]}"
    if name in apart:
        return ".".join(map(str, capability)) in apart[name]
    own = "sm_" + "".join(map(str, capability))
    return own not in apart and code[0] == capability[0] and code <= capability
