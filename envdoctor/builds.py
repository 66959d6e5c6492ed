"""What the local version label of a build, or the index it comes from, says it was built for.

Spellings of labels: knowledge/extension_wheels.toml.
"""

from __future__ import annotations

import re

from envdoctor.locks.text import name_and_version
from envdoctor.locks.torch_index import recognised
from envdoctor.model import LockedPackage
from envdoctor.versions import label

_CUDA = re.compile(r"(?<![a-z])cu(\d{2,4})(?!\d)")
_TORCH = re.compile(r"(?<![a-z])(?:torch|pt)(\d{1,4}(?:\.\d{1,4})*)(?!\d)")
_ABI = re.compile(r"cxx11abi(true|false)")
_APART = re.compile(r"cpu|rocm|xpu")
"""How labels of builds without CUDA begin."""


def label_of(package: LockedPackage) -> str:
    """Return the label of a pin's version, else the one that all its files bear; lower case, "" for none."""
    own = label(package.version)
    if not own and any("+" in item.name for item in package.artifacts):
        named = {name_and_version(item.name) for item in package.artifacts}
        borne = {label(found[1]) if found else "" for found in named}
        own = borne.pop() if len(borne) == 1 else ""
    return own.lower()


def cuda(text: str) -> tuple[int, int | None] | None:
    """Return (major, minor) of the CUDA release in a label: `cu128` is 12.8, `cu13` leaves the minor open."""
    match = _CUDA.search(text)
    if match is None:
        return None
    digits = match[1]
    return int(digits[:2]), int(digits[2]) if len(digits) == 3 else None


def torch(text: str) -> frozenset[tuple[int, int]]:
    """Return the torch releases that a label may mean: 2.10 for `torch2.10` and `torch2100`; `pt211` is 2.11 or 2.1."""
    match = _TORCH.search(text)
    if match is None:
        return frozenset()
    major, *rest = match[1].split(".") if "." in match[1] else (match[1][:1], match[1][1:])
    minors = {rest[0]} if "." in match[1] else {rest[0], rest[0][:-1]}
    return frozenset((int(major), int(minor)) for minor in minors if minor)


def old_abi(text: str) -> bool:
    """Tell whether a label says that it was built with the C++ ABI of before C++11."""
    match = _ABI.search(text)
    return match is not None and match[1] == "false"


def index_build(address: str) -> str:
    """Return the build that a torch index is for: `cu128`, `cpu`; "" for another index, or one that has them all."""
    found = recognised(address)
    return found.build if found else ""


def without_cuda(text: str) -> bool:
    """Tell whether a label, or the name of a torch index, is that of a build without CUDA."""
    return _APART.match(text) is not None
