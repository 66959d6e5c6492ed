"""Which keys of a cache another build made than that of an environment, as far as they say it in plain text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from envdoctor.cache.manifest import Made
from envdoctor.facts.cache_counts import KINDS, makers
from envdoctor.facts.cache_makers import Said
from envdoctor.facts.cache_walk import Key, Walk
from envdoctor.facts.compile_caches import ENTRY_LIMIT, READERS
from envdoctor.system.reading import head

LIMIT_FILES, LIMIT_SECONDS = 2_000_000, 600.0


@dataclass(frozen=True, slots=True)
class Stale:
    """What was found."""

    keys: tuple[tuple[str, str], ...]
    """The directory of each key, and why it is stale: a phrase that follows it."""
    complete: bool
    """False if the walk was cut short."""


def find(root: str, made: Made) -> Stale:
    """Read every key of a cache. One that does not say what made it is nobody's to remove."""
    walked = Walk(LIMIT_FILES, LIMIT_SECONDS, None).through(root, "inductor")
    entries = [(key, READERS[key.kind](head(key.sample, ENTRY_LIMIT))) for key in walked.keys if key.kind in KINDS]
    versions = makers(entries)
    found = (
        (os.path.dirname(key.sample), why)
        for (key, said), version in zip(entries, versions, strict=True)
        for why in _why(key, said, version, made)
    )
    return Stale(tuple(found), walked.complete)


def _why(key: Key, said: Said, version: str, made: Made) -> Iterator[str]:
    """Yield the first thing in which a key's maker differs, if any."""
    pairs = [("triton", version, made.triton)]
    if key.kind != "triton":
        commit, cuda = said.one("torch git"), said.one("cuda")
        pairs = [("torch", version, made.torch), ("torch of commit", commit, made.torch_git), ("CUDA", cuda, made.cuda)]
    for what, theirs, ours in pairs:
        if theirs and ours and theirs != ours:
            yield f"was made by {what} {theirs}; the environment has {ours}"
            return
