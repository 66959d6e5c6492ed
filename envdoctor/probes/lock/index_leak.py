"""An ordinary package is locked from a torch index.

Why it matters: a torch index carries what torch needs beside its own builds: few releases of it, only for some
platforms, or a page that points on to where they are. No mirror of the ordinary index has it under that address, and it
goes when the builds of that CUDA go. The lock came about because the torch index was asked for everything.

What to do: let the torch index serve the torch family alone (uv: `explicit = true` and `[tool.uv.sources]`), and lock
again.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor import knowledge
from envdoctor.locks.torch_index import recognised
from envdoctor.model import Finding, Lock, LockedPackage, Severity
from envdoctor.pointing import fault, first_of_each


def check(lock: Lock) -> Iterable[Finding]:
    """Report each name once; the ordinary packages are those that knowledge/torch_index_copies.toml lists."""
    ordinary = {name for row in knowledge.rows("torch_index_copies") for name in row["members"]}
    copies = (package for package in lock.packages if package.name in ordinary)
    for package in first_of_each(package for package in copies if _leaked(package)):
        address = _leaked(package)
        index = recognised(address)
        yield fault(
            Severity.WARNING,
            lock,
            package,
            f"{package.name} {package.version} is locked from a torch index ({index.path if index else address})",
            text=address,
            index=address,
            remedy=("make the torch index explicit for the torch family alone, and lock again",),
        )


def _leaked(package: LockedPackage) -> str:
    """Return the torch index that a package is recorded to come from, or the file of one; "" for none."""
    addresses = (package.url, *(artifact.url for artifact in package.artifacts))
    return next(filter(recognised, addresses), "")
