"""The lock installs what lies in a folder.

Why it matters: `-e .` or a path is whatever lies there on the day of the install. Only a file with a digest is the same
everywhere; a lock of uv, Poetry, PDM or pipenv belongs to the tree that it locks: there only what leaves it counts.

What to do: leave the project itself out of the lock (`uv export --no-emit-project`), and build wheels of the rest.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from envdoctor.model import Finding, Lock, LockedPackage, Severity
from envdoctor.pointing import fault, met, of_rule, once
from envdoctor.views.lock_files import LockFile, LockFiles

REMEDY = "leave the project out of the lock, or pin a wheel of it with its digest"
_AWAY = re.compile(r"/|[A-Za-z]:[\\/]|file:")


def check(lock: Lock, lock_files: LockFiles) -> Iterable[Finding]:
    """Report each package once, at its path."""
    yield from met(lock, of_rule(lock, "local-source"), REMEDY)
    folders = ((package, package.url) for package in lock.packages if _is_folder(package))
    away = (found for found in folders if lock.format in ("requirements", "pylock") or _leaves(found[1]))
    local = ((file.package, file.url) for file in lock_files.files if file.local and not _is_fixed(file))
    for package, path in once((*away, *local), lambda found: found[0].name):
        said = f"{package.name} is whatever lies in {path} when it is installed"
        yield fault(Severity.ERROR, lock, package, said, text=path, remedy=(REMEDY,))


def _is_folder(package: LockedPackage) -> bool:
    return package.source in ("directory", "editable") and not re.match(r"\w+\+", package.url)


def _is_fixed(file: LockFile) -> bool:
    """Tell whether a file has a digest and lies below the lock's folder."""
    return bool(file.hashes) and not _leaves(file.url)


def _leaves(path: str) -> bool:
    plain = os.path.normpath(path)
    return _AWAY.match(path) is not None or plain.startswith("..")
