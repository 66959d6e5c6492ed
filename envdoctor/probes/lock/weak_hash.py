"""A file is held to its digest by a weak algorithm alone.

Why it matters: two files with one md5 or sha1 can be made by anybody. pip refuses md5 in requirements, yet pip and uv
install a pylock.toml that has nothing better, even when hashes are demanded.

What to do: lock again; every index gives sha256.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault, once
from envdoctor.views.lock_files import LockFiles


def check(lock: Lock, lock_files: LockFiles) -> Iterable[Finding]:
    """Report each package once; what comes from an address is lock/unhashed-url."""
    weak = (file for file in lock_files.indexed() if file.hashes and not file.strong)
    for file in once(weak, lambda file: file.package.name):
        algorithm, _, digest = file.hashes[0].partition(":")
        said = f"{file.package.name} is held to {algorithm} alone, which two files can share"
        remedy = ("lock again, for sha256 digests",)
        yield fault(Severity.ERROR, lock, file.package, said, text=digest, remedy=remedy)
