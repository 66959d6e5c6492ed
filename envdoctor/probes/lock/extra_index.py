"""A second index stands beside the first, and pins without a digest may come from either.

Why it matters: pip has no order of indexes, and uv takes the first that has the name. Whoever uploads a package of that
name and version to the public one is installed (dependency confusion; torchtriton came this way in December 2022).

What to do: lock with hashes, so that a substitute is refused, or name one index that serves all.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.locks import addresses
from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault, many


def check(lock: Lock) -> Iterable[Finding]:
    """Report each option line; with a digest on every pin from an index there is nothing to confuse."""
    bare = [package for package in lock.packages if package.source == "index" and not package.hashed]
    if lock.format == "pipfile":  # pipenv takes a package from the source that it names, and from no other
        bare = [package for package in bare if not package.url]
    for option in lock.options if bare else ():
        if option.name == "--extra-index-url":
            host = addresses.host(option.value)
            yield fault(
                Severity.ERROR,
                lock,
                option,
                f"{len(bare):,} pins without a digest may come from the extra index {host or option.value} as well",
                subject=host or option.value,
                remedy=("lock again with hashes: envdoctor lock compile IN -o FILE", "or name one index alone"),
                unhashed=many(bare),
            )
