"""Package indexes, told by the path of their address; hosts are mirrored under any name."""

from __future__ import annotations

import re

_TORCH = re.compile(r"/whl(?:/(?:test|nightly))?(?:/(cpu|cu\d{2,3}|rocm\d+(?:\.\d+)*|xpu)(?=[/?#]|$)|/?(?=[?#]|$))")
"""Layout of the indexes that PyTorch publishes: /whl, /whl/cu128, /whl/nightly/cpu."""


def torch_build(url: str) -> str | None:
    """Return the build that a torch index holds: `cu128`, `cpu`; "" for all builds, None for any other index."""
    match = _TORCH.search(url)
    return None if match is None else match[1] or ""
