"""Some files of the lock have a digest and others have none.

Why it matters: pip refuses such a lock as a whole; uv installs what has no digest unchecked, unless it is told
`--require-hashes`.

What to do: lock again with hashes; an index that gives no digest needs a mirror that does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault, many, of_rule, once
from envdoctor.views.lock_files import LockFile, LockFiles

REMEDY = ("lock again with hashes: envdoctor lock compile IN -o FILE",)


def check(lock: Lock, lock_files: LockFiles) -> Iterable[Finding]:
    """Report the file, or where files are named each package; a lock without any digest is lock/unhashed."""
    fetched = lock_files.indexed()
    malformed = {problem.subject for problem in of_rule(lock, "malformed-hash")}
    told = {*malformed, *(problem.subject for problem in of_rule(lock, "unpinned"))}
    empty = (file for file in fetched if not file.hashes and file.package.name not in told)
    bare = once(empty, lambda file: file.package.name)
    if bare and (malformed or any(file.hashes for file in fetched)):
        yield from (
            [_all(lock, bare)] if lock.format in ("requirements", "pipfile") else [_one(lock, file) for file in bare]
        )


def _one(lock: Lock, file: LockFile) -> Finding:
    said = f"{file.package.name}: {file.name or 'it'} has no digest, while other files of the lock have one"
    return fault(Severity.ERROR, lock, file.package, said, text=file.written, remedy=REMEDY)


def _all(lock: Lock, bare: Sequence[LockFile]) -> Finding:
    pins = [file.package for file in bare]
    names = [pin.name for pin in pins]
    said = f"{len(pins):,} of the lock's packages have no digest: {', '.join(names[:3])}{' ...' * (len(names) > 3)}"
    told = {"packages": names[:50], **many(pins)}
    return fault(Severity.ERROR, lock, pins[0], said, subject=lock.path, text=pins[0].raw_name, remedy=REMEDY, **told)
