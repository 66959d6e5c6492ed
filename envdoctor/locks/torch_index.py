"""A torch index, told by its path: it holds the builds of torch for one CUDA, ROCm or CPU. Its host is never looked at.

`/whl/cu128`, `/whl/nightly/cpu`, and `/whl` alone, from which all are reached. Source of the layout:
pytorch/test-infra, s3_management/manage_v2.py (PREFIXES, ACCEPTED_SUBDIR_PATTERNS), commit 00b05fc.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BUILD = r"cpu|cu\d{2,3}|rocm\d+(?:\.\d+){0,2}|xpu"
_PATH = re.compile(rf"https?://[^?#]*/whl(?:/(test|nightly)(?:/({_BUILD}))?|/({_BUILD}))?(?=/|[?#]|$)", re.IGNORECASE)
_LABEL = re.compile(_BUILD)


@dataclass(frozen=True, slots=True)
class TorchIndex:
    """One of them, as an address names it."""

    path: str
    """`/whl/test/cu128`."""
    channel: str = ""
    """`test` or `nightly`; "" for releases."""
    build: str = ""
    """`cu128`, `cpu`, `rocm6.4`, `xpu`; "" for the index above them."""


def recognised(address: str) -> TorchIndex | None:
    """Return the torch index that an address is, or that it is a file of; None for any other address."""
    match = _PATH.match(address)
    if match is None:
        return None
    channel, build = (match[1] or "").lower(), (match[2] or match[3] or "").lower()
    if not channel and not build and match.end() < len(address.rstrip("/")):
        return None  # a file below some /whl/
    return TorchIndex("/".join(filter(None, ("/whl", channel, build))), channel, build)


def is_label(text: str) -> bool:
    """Tell whether a local version label is that of a build of a torch index: `cu128`; not `cu128torch2.10`."""
    return _LABEL.fullmatch(text) is not None
