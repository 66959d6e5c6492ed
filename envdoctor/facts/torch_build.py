"""Which build of torch lies in the target, from the text of `torch/version.py`; torch is never imported."""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from envdoctor.facts.search_path import SearchPath
from envdoctor.model import Target, Unavailable
from envdoctor.system.host import Host

_CUDA = re.compile(r"\d{1,2}(?:\.\d{1,3}){0,2}")
"""What torch writes for `cuda`: 11.8, 12.8, 13.0."""
_LIMIT = 1 << 16


@dataclass(frozen=True, slots=True)
class TorchBuild:
    """What torch says of its own build."""

    path: str
    """The version.py that was read."""
    version: str | None
    """E.g. `2.15.0+cu132`; wheels of the package index carry the label here though their metadata has none."""
    cuda: str | None = None
    """CUDA version it was built for, e.g. `13.2`; None for a CPU or ROCm build."""
    hip: str | None = None
    git: str | None = None
    debug: bool = False

    @property
    def label(self) -> str:
        """The local version label: `cu132`, `cpu`, or ""."""
        return (self.version or "").partition("+")[2]


def collect(target: Target, host: Host, search_path: SearchPath) -> TorchBuild | Unavailable:  # noqa: ARG001
    """Read the first torch on the path."""
    for entry in search_path.entries:
        path = os.path.join(entry.path, "torch", "version.py")
        if os.path.isfile(path):
            with open(path, encoding="utf-8-sig", errors="replace") as stream:
                return parse(stream.read(_LIMIT), path)
        if os.path.lexists(path):
            return Unavailable(f"{path} is not a regular file")
    return Unavailable("torch is not installed")


def parse(text: str, path: str) -> TorchBuild | Unavailable:
    """Read the constants of version.py (written by torch's setup.py and tools/generate_torch_version.py)."""
    try:
        with warnings.catch_warnings(action="ignore"):  # of the text: an odd escape in it is not the doctor's
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Unavailable(f"{path} is not Python", failed=False)
    values = {name: value.value for name, value in _assigned(tree) if isinstance(value, ast.Constant)}

    def text_of(key: str) -> str | None:
        value = values.get(key)
        return value if isinstance(value, str) else None

    cuda = text_of("cuda")
    return TorchBuild(
        path,
        text_of("__version__"),
        cuda if cuda and _CUDA.fullmatch(cuda) else None,
        text_of("hip"),
        text_of("git_version"),
        values.get("debug") is True,
    )


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the names that are given a value at the top level, annotated or not."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node.value
