"""The lock holds no hashes.

Why it matters: whatever the index serves under the name and version is installed, today's file or tomorrow's. A lock to
rebuild from needs the digest of every file.

What to do: `pip-compile --generate-hashes`, `uv export` without `--no-hashes`, or `envdoctor lock compile`.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault, many, of_rule
from envdoctor.views.lock_files import LockFiles


def check(lock: Lock, lock_files: LockFiles) -> Iterable[Finding]:
    """Report it once; a lock of which some files are hashed is lock/partly-hashed."""
    bare = list({id(file.package): file.package for file in lock_files.indexed()}.values())
    if bare and not any(file.hashes for file in lock_files.indexed()) and not of_rule(lock, "malformed-hash"):
        yield fault(
            Severity.ERROR,
            lock,
            bare[0],
            f"none of the {len(bare):,} packages from an index has a hash",
            subject=lock.path,
            text=bare[0].raw_name,
            remedy=("lock again with hashes: envdoctor lock compile IN -o FILE",),
            **many(bare),
        )
