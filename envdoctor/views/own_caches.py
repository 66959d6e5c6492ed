"""The compile caches of this user on the running machine, where rights and processes count."""

from __future__ import annotations

from dataclasses import dataclass

from envdoctor.facts.compile_caches import CompileCache, CompileCaches
from envdoctor.model import Unavailable

ATTACK = "whoever can write there can leave a pickle or a library in it that your next compile loads and runs as you"
"""What is at stake, in one sentence."""


@dataclass(frozen=True, slots=True)
class OwnCaches:
    """All of them."""

    caches: tuple[CompileCache, ...]
    uid: int


def view(compile_caches: CompileCaches) -> OwnCaches | Unavailable:
    """Leave out what lies below --root, where nobody runs."""
    if compile_caches.uid is None:
        return Unavailable("--root: the rights and processes of the running machine say nothing of that one")
    return OwnCaches(compile_caches.caches, compile_caches.uid)
