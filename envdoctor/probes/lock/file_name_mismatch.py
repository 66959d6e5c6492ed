"""A file is not of the package and version that it is locked for.

Why it matters: name and version stand in a wheel's file name. Where they differ, a line was edited by hand or a merge
went wrong, and what gets installed is not what the lock says; pip and uv refuse such a pylock.toml.

What to do: lock again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault, once
from envdoctor.versions import is_version, label, same_build, same_release
from envdoctor.views.lock_files import LockFile, LockFiles


def check(lock: Lock, lock_files: LockFiles) -> Iterable[Finding]:
    """Report each package once, at the file's name."""
    wrong = (file for file in lock_files.files if not _fits(file))
    for file in once(wrong, lambda file: file.package.name):
        pin = f"{file.package.name} {file.package.version or ''}".rstrip()
        said = f"{pin} is locked to the file {file.name}, which is another package or version"
        remedy = ("lock again: envdoctor lock compile IN -o FILE",)
        yield fault(Severity.ERROR, lock, file.package, said, text=file.written, remedy=remedy)


def _fits(file: LockFile) -> bool:
    """Tell whether a name may be this package's; archives at an address are named as one likes."""
    fetched = file.package.source == "index"
    named = file.named()
    if named is None or not (fetched or file.name.endswith(".whl")):
        return True
    project, version = named
    if project == file.package.name:
        return _same(version, file.package.version, fetched=fetched)
    return re.match(rf"{re.escape(file.package.name)}-\d", project) is not None  # 1.0-2: read at the wrong hyphen


def _same(written: str, version: str | None, *, fetched: bool) -> bool:
    """Compare versions; at an address the label may be missing on one side: the wheel was renamed."""
    if version is None or not is_version(written):
        return True
    if not fetched and "" in (label(written), label(version)):
        return same_release(written, version)
    return same_build(written, version)
