"""Which family a package belongs to: torch's, CUDA's, or none (knowledge/families.toml, nvidia_families.toml)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from envdoctor import knowledge
from envdoctor.facts import nvidia_wheels


def family(name: str) -> str | None:
    """Return `torch`, `cuda` or None for a normalised name."""
    return _named().get(name) or ("cuda" if nvidia_wheels.family(name) is not None else None)


@cache
def _named() -> Mapping[str, str]:
    return {row["name"]: row["family"] for row in knowledge.rows("families")}
