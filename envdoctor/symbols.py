"""An `undefined symbol` message, traced: which library wants the symbol, who ships it, which file the loader takes.

The message is that of glibc (elf/dl-lookup.c): `<library>: undefined symbol: <name>, version <version>`. Most of
NVIDIA's libraries call the version of their symbols by their own soname; for the others the beginning of the name tells
(knowledge/symbol_families.toml).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from envdoctor import knowledge
from envdoctor.facts.distributions import Distributions
from envdoctor.facts.extensions import Extensions
from envdoctor.facts.linking import Resolution
from envdoctor.facts.loader import Loader, stem
from envdoctor.facts.nvidia_wheels import NvidiaWheels
from envdoctor.facts.owners import Owners
from envdoctor.model import Unavailable

_MARKER = "undefined symbol: "
_SYMBOL = re.compile(r"([\w$]{1,4000})(?:@+[\w.]+)?(?:, version ([\w.+-]{1,200}))?")
_SONAME = re.compile(r"lib[\w.+-]+\.so(?:\.\d+)*")
_MANGLED = re.compile(r"_Z(?:T[VIST])?N[KVRO]*(?=\d)|_Z(?:T[VIST])?\d+(?=THP)")
_TORCH_LIBRARY = re.compile(r"lib(?:torch|c10|shm)\w*\.so")
NO_FILE = "no file"
LINE = 4096
"""Characters before the marker that are read."""


@dataclass(frozen=True, slots=True)
class Undefined:
    """A symbol that the loader did not find."""

    symbol: str
    library: str | None = None
    """Path of the object that wants it, as the loader names it."""
    version: str | None = None
    """Version of the symbol, where the message names one."""
    soname: str | None = None
    """The library that should define it."""
    whose: str | None = None
    """What the symbol is a part of, for a person: `cuDNN`, `torch`."""
    shipped_by: tuple[str, ...] = ()
    """Who installed that library into the environment: `nvidia-nvjitlink-cu12 12.4.127 (/.../libnvJitLink.so.12)`."""
    wanted_by: str | None = None
    """Distribution that owns `library`, with its version."""
    resolved: str | None = None
    """The file that the loader takes for `soname`, and the rule that found it (`/x/libnccl.so.2, found by RPATH`).

    `NO_FILE` if it would find none, None if that is not known.
    """


def parse(text: str) -> Undefined | None:
    """Read the first message of this kind in a text: what it says, and whose the symbol is by its name."""
    start = text.find(_MARKER)
    found = _SYMBOL.match(text, start + len(_MARKER)) if start >= 0 else None
    if found is None:
        return None
    symbol, version = found[1], found[2]
    row = family(symbol) or {}
    soname = version if version and _SONAME.fullmatch(version) else None
    if soname is None and "stem" in row:
        soname = f"{row['stem']}.so"
    return Undefined(symbol, _library(text[max(0, start - LINE) : start]), version, soname, row.get("whose"))


def _library(before: str) -> str | None:
    """Return the path that ends right before the marker: `ImportError: /x/liba.so: `, `...: symbol lookup error: `."""
    line = before.rpartition("\n")[2].rstrip().removesuffix(":")
    path = line.rpartition(": ")[2].strip(" \t\"'")
    return path if ".so" in path else None


def family(symbol: str) -> Mapping[str, Any] | None:
    """Return the row of knowledge/symbol_families.toml for a symbol: the longest prefix that fits."""
    name = _MANGLED.sub(lambda match: "_ZN" if "N" in match[0] else "", symbol, count=1)
    fitting = [
        row
        for row in knowledge.rows("symbol_families")
        if name.startswith(row["prefix"]) and not name[len(row["prefix"]) :][:1].islower()
    ]
    return max(fitting, key=lambda row: len(row["prefix"]), default=None)


def trace(
    text: str,
    *,
    loader: Loader | Unavailable,
    nvidia_wheels: NvidiaWheels | Unavailable,
    distributions: Distributions | Unavailable,
    owners: Owners | Unavailable,
    extensions: Extensions | Unavailable,
) -> Undefined | None:
    """Read the first message in a text and say who wants the symbol, who ships it, and which file is taken for it.

    What a fact that could not be read would have told stays empty.
    """
    said = parse(text)
    if said is None:
        return None
    row = family(said.symbol) or {}
    resolution = _resolution(said.soname, loader)
    soname = resolution.soname if resolution else said.soname
    wheels = () if isinstance(nvidia_wheels, Unavailable) else _shipped(soname, nvidia_wheels)
    if resolution is None and len(names := {name for name, _ in wheels}) == 1:
        soname = names.pop()
    shipped = [label for _, label in wheels]
    if "distribution" in row and not isinstance(distributions, Unavailable):
        item = distributions.active.get(row["distribution"])
        shipped = [f"{item.label} ({item.location})"] if item else []
    return replace(
        said,
        soname=soname,
        shipped_by=tuple(shipped),
        wanted_by=_owner(said.library or "", nvidia_wheels, distributions, owners, extensions),
        resolved=_told(resolution) if resolution else None,
    )


def _is_the_same(name: str, soname: str) -> bool:
    """Compare library names; one without a number (`libnccl.so`) stands for all of them."""
    return name == soname or (soname.endswith(".so") and stem(name) == stem(soname))


def _resolution(soname: str | None, loader: Loader | Unavailable) -> Resolution | None:
    if soname is None or isinstance(loader, Unavailable):
        return None
    return next((item for item in loader.resolutions if _is_the_same(item.soname, soname)), None)


def _told(resolution: Resolution) -> str:
    return NO_FILE if resolution.path is None else f"{resolution.path}, found by {resolution.by}"


def _shipped(soname: str | None, wheels: NvidiaWheels) -> tuple[tuple[str, str], ...]:
    """Return soname and description of each copy that a wheel lists."""
    return tuple(
        (library.soname, f"{_label(wheel.name, wheel.version)} ({library.path}{'' if library.exists else ', gone'})")
        for wheel in wheels.wheels
        for library in wheel.libraries
        if soname is not None and _is_the_same(library.soname, soname)
    )


def _owner(
    library: str,
    nvidia_wheels: NvidiaWheels | Unavailable,
    distributions: Distributions | Unavailable,
    owners: Owners | Unavailable,
    extensions: Extensions | Unavailable,
) -> str | None:
    """Return the distribution whose library this is, by the RECORDs that other facts have read already.

    By its path, else by its place in whatever site-packages it was reached through, else by its bare name.
    """
    path = os.path.normpath(library)
    active = {} if isinstance(distributions, Unavailable) else distributions.active
    labels = {name: item.label for name, item in active.items()}
    owned: dict[str, str] = {}
    if not isinstance(owners, Unavailable):
        owned |= {file: labels.get(name, name) for file, name in owners.top_level.items()}
    for item in () if isinstance(extensions, Unavailable) else extensions.items:
        if item.name in active:
            owned[os.path.join(active[item.name].location, item.path)] = labels[item.name]
    for wheel in () if isinstance(nvidia_wheels, Unavailable) else nvidia_wheels.wheels:
        owned |= {file.path: _label(wheel.name, wheel.version) for file in wheel.libraries}
    if path in owned:
        return owned[path]
    shorten = _place if "/" in path else os.path.basename
    found = {label for file, label in owned.items() if shorten(file) == shorten(path)}
    if not found and (_place(path).startswith("torch/") or _TORCH_LIBRARY.fullmatch(path)):
        return labels.get("torch")
    return found.pop() if len(found) == 1 else None


def _place(path: str) -> str:
    """Return a path from site-packages on."""
    return re.split(r"/(?:site|dist)-packages/", path)[-1]


def _label(name: str, version: str | None) -> str:
    return f"{name} {version}" if version else name


def said(undefined: Undefined) -> str:
    """Say it in one sentence."""
    library = os.path.basename(undefined.library) if undefined.library else "a library"
    owner = f" of {undefined.wanted_by}" if undefined.wanted_by else ""
    begins = f"{library}{owner} wants the symbol {undefined.symbol}"
    source, shipped = undefined.soname or undefined.whose, " and ".join(undefined.shipped_by)
    if source is None:
        return f"{begins}; whose it is, is not known"
    if undefined.soname is None:
        return f"{begins} of {source}" + (f", and {shipped} is not the one it was built for" if shipped else "")
    return f"{begins} of {source}, {_shipping(undefined.resolved, shipped)}"


def _shipping(resolved: str | None, shipped: str) -> str:
    ships, turn = (f"which {shipped} ships", "but") if shipped else ("which no package here is known to ship", "and")
    if resolved is None:
        return ships
    if resolved == NO_FILE:
        return f"{ships}, {turn} the loader finds no file of that name"
    if shipped and f"({resolved.rpartition(', found by ')[0]})" in shipped:
        return f"{ships}; the loader takes that very file, and it is not in it"
    return f"{ships}, {turn} the loader takes {resolved}"
