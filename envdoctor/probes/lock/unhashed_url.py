"""A file comes from an address and has no digest.

Why it matters: what lies at an address can be replaced under the same name; nothing then tells today's file from the
one that was tested. A digest of md5 or sha1 tells too little.

What to do: add `#sha256=...` to the address.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault, once
from envdoctor.views.lock_files import LockFiles


def check(lock: Lock, lock_files: LockFiles) -> Iterable[Finding]:
    """Report each package and address once."""
    remote = (file for file in lock_files.files if file.package.source == "url" and file.url and not file.local)
    bare = (file for file in remote if not file.strong)
    for file in once(bare, lambda file: (file.package.name, file.url)):
        weak = f" but {file.hashes[0].partition(':')[0]}" if file.hashes else ""
        said = f"{file.package.name} comes from {file.url} with no digest{weak}: what lies there may change"
        remedy = ("add the digest of the file that was tested: #sha256=...",)
        yield fault(Severity.ERROR, lock, file.package, said, text=file.url, remedy=remedy)
