"""One requirement of a requirements lock: a pin, `NAME @ URL`, a bare URL or path, or an editable."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from envdoctor.errors import LockError
from envdoctor.locks.comments import NOTHING, Note
from envdoctor.locks.files import below, read_bytes
from envdoctor.locks.text import (
    ARCHIVES,
    Fault,
    digest_problem,
    file_name,
    is_name,
    name_and_version,
    normalised,
    quoted,
    shown,
)
from envdoctor.model import Artifact, LockedPackage, SourceKind
from envdoctor.printable import redact

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_VCS = re.compile(r"(git|hg|svn|bzr)\+[\w+]+:")
_LOCATED = re.compile(r"^\.{0,2}/|://|^[^\s;\[]+/|^\.{1,2}$")
_FRAGMENT_DIGESTS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")
"""Fragment keys that hold the digest of a URL (pip 26.3, models/link.py)."""
_EXTRAS = re.compile(r"^(.*?)\[([\w\s,.-]*)\]$")
_MARKED = re.compile(r"\s;\s*")


@dataclass(slots=True)
class Draft:
    """A package whose place in the file is not written down yet."""

    name: str
    version: str | None
    extras: tuple[str, ...] = ()
    marker: str | None = None
    source: SourceKind = "index"
    url: str = ""
    artifacts: tuple[Artifact, ...] = ()
    hashes: tuple[str, ...] = ()
    operator: str = "=="

    def placed(self, line: int, file: str, note: Note = NOTHING) -> LockedPackage:
        """Return the package, found at that line of that file, with what is noted of it there."""
        return LockedPackage(
            name=normalised(self.name),
            version=self.version,
            marker=self.marker,
            source=self.source,
            url=self.url or note.index,
            artifacts=self.artifacts,
            hashes=self.hashes,
            extras=self.extras,
            line=line,
            raw_name=self.name,
            file=file,
            operator=self.operator,
            via=note.via,
        )


Parsed = tuple[Draft | None, list[Fault]]
"""A package, if the text names one, and what is wrong with the text."""


def parse(text: str, hashes: list[str]) -> Parsed:
    """Read a requirement with the values of its `--hash` options."""
    from packaging.requirements import InvalidRequirement, Requirement

    good, problems = _digests(hashes)
    if text.split(";")[0].strip().endswith(ARCHIVES) and " @ " not in text:
        return _joined(_located(text, good), problems)  # a file name such as a-1.0.tar.gz is also a valid project name
    try:
        requirement = Requirement(text)
    except (InvalidRequirement, RecursionError) as error:
        if _LOCATED.search(text):
            return _joined(_located(text, good), problems)
        reason = shown(str(error)) if isinstance(error, InvalidRequirement) else "nested too deeply"
        rule = "unknown-directive" if text.isascii() else "bad-encoding"
        return None, [*problems, Fault(rule, f"{quoted(text)} is no requirement: {reason}", text)]
    return _joined(_named(requirement, text.split(";")[0].strip(), good), problems)


def _digests(hashes: Iterable[str]) -> tuple[tuple[str, ...], list[Fault]]:
    """Tell digests from what is none."""
    said = {digest: digest_problem(digest) for digest in hashes}
    good = tuple(digest for digest, problem in said.items() if problem is None)
    return good, [Fault("malformed-hash", problem, digest) for digest, problem in said.items() if problem]


def _joined(parsed: Parsed, problems: list[Fault]) -> Parsed:
    return parsed[0], [*problems, *parsed[1]]


def _named(requirement: Requirement, written: str, hashes: tuple[str, ...]) -> Parsed:
    marker = str(requirement.marker) if requirement.marker is not None else None
    extras = tuple(sorted(map(normalised, requirement.extras)))
    if requirement.url is not None:
        return _from_url(requirement.url, requirement.name, extras, marker, hashes)
    pins = [s for s in requirement.specifier if s.operator in ("==", "===") and not s.version.endswith(".*")]
    if not pins:
        wish = f"{requirement.name}{requirement.specifier}"
        return None, [Fault("unpinned", f"{quoted(wish)} is not pinned: only NAME==VERSION names one release", written)]
    return Draft(requirement.name, pins[0].version, extras, marker, hashes=hashes, operator=pins[0].operator), []


def _located(text: str, hashes: tuple[str, ...]) -> Parsed:
    """Read a bare URL or path, with extras and a marker after it."""
    place, *marked = _MARKED.split(text, maxsplit=1)
    match = _EXTRAS.match(place)
    extras = tuple(sorted(normalised(part.strip()) for part in match[2].split(",") if part.strip())) if match else ()
    draft, problems = _from_url(match[1] if match else place, "", extras, None, hashes)
    if draft is not None and marked:
        draft.marker, problem = _marker(marked[0])
        problems += problem
    return draft, problems


def _marker(text: str) -> tuple[str | None, list[Fault]]:
    from packaging.markers import InvalidMarker, Marker

    try:
        return str(Marker(text)), []
    except (InvalidMarker, RecursionError):
        return None, [Fault("unknown-directive", f"{quoted(text)} is no marker", text)]


def _from_url(url: str, name: str, extras: tuple[str, ...], marker: str | None, hashes: tuple[str, ...]) -> Parsed:
    """Read an address; its fragment may name the package (#egg=) and its digests (#sha256=)."""
    url = redact(url)  # before it is cut: a password may hold a # that nobody escaped
    base, _, fragment = url.partition("#")
    pairs = [pair.partition("=")[::2] for pair in fragment.split("&")]
    good, problems = _digests(f"{key}:{value}" for key, value in pairs if key in _FRAGMENT_DIGESTS)
    hashes = tuple(dict.fromkeys((*hashes, *good)))
    egg = next((value for key, value in pairs if key == "egg"), "").split("[")[0]
    file = file_name(base)
    found = name_and_version(file) if not _VCS.match(base) else None
    name = name or egg or (found[0] if found else "")
    if not is_name(name):
        rule = "local-source" if _is_local(base) else "unpinned"
        return None, [*problems, Fault(rule, f"{quoted(url)} names no package; write NAME @ URL", url)]
    version = found[1] if found is not None and normalised(found[0]) == normalised(name) else None
    source = _kind(base)
    artifacts = (Artifact(file, base, hashes),) if source == "url" else ()
    return Draft(name, version, extras, marker, source, base, artifacts, hashes), problems


def _kind(url: str) -> SourceKind:
    if _VCS.match(url):
        return "vcs"
    return "directory" if _is_local(url) and not url.endswith(ARCHIVES) else "url"


def _is_local(url: str) -> bool:
    return "://" not in url or url.startswith("file:")


def parse_editable(text: str, root: str) -> Parsed:
    """Read the value of `-e`: a checkout's address with #egg=, or a folder whose pyproject.toml says its name.

    Only a folder below `root`, the lock's own directory, is looked into.
    """
    match = _EXTRAS.match(text)
    place, extras = (match[1], match[2]) if match else (text, "")
    name = "" if "://" in place or "#egg=" in place else _project_name(place, root)
    draft, problems = _from_url(place, name, tuple(sorted(map(normalised, extras.replace(",", " ").split()))), None, ())
    if draft is not None:
        draft.source, draft.artifacts = "editable", ()
    else:
        message = f"editable {quoted(text)} names no package that could be compared; add #egg=NAME"
        problems = [Fault("local-source" if _is_local(place) else "unpinned", message, text)]
    return draft, problems


def _project_name(place: str, root: str) -> str:
    folder = below(root, os.path.join(root, place))
    if folder is None:
        return ""
    from envdoctor.locks.toml import Document, table_of, text_of

    path = os.path.join(folder, "pyproject.toml")
    try:
        return text_of(table_of(Document.parse(path, read_bytes(path)).top, "project"), "name") or ""
    except LockError:
        return ""
