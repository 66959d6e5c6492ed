"""Which releases and builds of torchvision, torchaudio and triton belong to which torch.

Table: knowledge/torch_companions.toml.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from envdoctor import knowledge
from envdoctor.model import Severity
from envdoctor.versions import public, satisfies

COMPANIONS = ("torchvision", "torchaudio")
"""Built against torch's C++ interface; triton is called by it."""
_CUDA = re.compile(r"cu(\d+)(\d)$")

Misfit = tuple[Severity, str, str | None]
"""How bad it is, why, and the version wanted where one can be named."""


def row(torch: str) -> Mapping[str, Any] | None:
    """Return what is known of a torch release, None if nothing is."""
    return _rows().get(public(torch))


@cache
def _rows() -> Mapping[str, Mapping[str, Any]]:
    return {public(row["torch"]): row for row in knowledge.rows("torch_companions")}


def release_misfit(torch: str, name: str, version: str) -> Misfit | None:
    """Compare a companion with the table; a release that it lacks, or has as bound to no torch, is not judged."""
    known, version = row(torch), public(version)
    if known is None:
        return None
    if name == "triton":
        wanted = known["triton"]
        if satisfies(version, wanted):
            return None
        return Severity.WARNING, f"that release was made for triton {wanted}", wanted.lstrip("=~")
    releases = {public(release) for other in _rows().values() for release in other[name]}
    if version in map(public, known[name]) or version not in releases:
        return None
    return Severity.ERROR, f"{' or '.join(known[name])} does", known[name][-1]


def unbound(torch: str, name: str, version: str) -> str | None:
    """Say which torch a companion was made with that asks for none and meets another; None if it asks, or is unknown.

    Releases of torchaudio up to 2.11 bear the number of their torch.
    """
    known = row(torch)
    asks = known is None or f"{name}-{version.partition('+')[0]}" not in known.get("unbound", ())
    ours, theirs = (".".join(release.split(".")[:2]) for release in (torch, version))
    return None if asks or ours == theirs else theirs


def build_misfit(name: str, version: str, ours: str, theirs: str) -> Misfit | None:
    """Compare the labels of torch and of a companion: `cu128`, `cpu`; what has none is not judged."""
    if not ours or not theirs or ours == theirs:
        return None
    wanted = f"{version.partition('+')[0]}+{ours}"
    mine, other = _CUDA.match(ours), _CUDA.match(theirs)
    if mine and other:
        fatal = mine[1] != other[1] or name == "torchaudio"
        return (Severity.ERROR if fatal else Severity.WARNING), f"built for {theirs}, torch for {ours}", wanted
    if mine and theirs == "cpu":
        return Severity.WARNING, f"a CPU build beside torch for {ours}: it has no GPU operators", wanted
    if ours == "cpu" and other:
        return Severity.ERROR, f"built for {theirs}, torch has no CUDA libraries for it to load", wanted
    return None
