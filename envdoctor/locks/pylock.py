"""pylock.toml as a lock (PEP 751; validated by `packaging.pylock`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NoReturn

from packaging.pylock import Package, PackageSdist, PackageWheel, Pylock, PylockValidationError

from envdoctor.errors import LockError
from envdoctor.locks.text import digest_problem, file_name, normalised, quoted, shown
from envdoctor.locks.toml import Document, Table, text_of, unique
from envdoctor.model import Artifact, Lock, LockedDependency, LockedPackage, LockProblem, SourceKind
from envdoctor.printable import redact

VERSION = "1.0"
"""The lock-version that is known; a later minor version may add what is not understood."""
_PLACE = re.compile(r"packages\[(\d+)\]")


def parse(document: Document) -> Lock:
    """Turn a pylock document into a Lock. Raises LockError, with the package's line, where PEP 751 is not met."""
    problems = _version_problems(document)
    tables = document.top.get("packages")
    lines = document.lines("packages", len(tables) if isinstance(tables, list) else 0)
    try:
        pylock = Pylock.from_dict({**document.top, "lock-version": VERSION})
    except PylockValidationError as error:
        _fail(document, error, lines)
    written = [table.get("version") for table in document.top["packages"]]
    packages = tuple(map(_package, pylock.packages, written, lines))
    groups = unique(map(normalised, (*(pylock.dependency_groups or ()), *(pylock.default_groups or ()))))
    return Lock(
        path=document.path,
        format="pylock",
        packages=packages,
        requires_python=text_of(document.top, "requires-python"),
        environments=tuple(map(str, pylock.environments or ())),
        extras=tuple(pylock.extras or ()),
        groups=groups,
        default_groups=unique(map(normalised, pylock.default_groups or ())),
        indexes=unique(redact(package.index or "") for package in pylock.packages),
        problems=(*problems, *_digest_problems(pylock.packages, lines)),
    )


def _version_problems(document: Document) -> tuple[LockProblem, ...]:
    """Judge `lock-version`: another major version is an error, a later minor version a problem (PEP 751)."""
    version = text_of(document.top, "lock-version") or ""
    match = re.search(r"^[ \t]*lock-version", document.text, re.MULTILINE)
    line = document.text.count("\n", 0, match.start()) + 1 if match else 0
    known = re.fullmatch(r"1\.(\d+)", version)
    if known is None:
        said = quoted(str(document.top.get("lock-version")))
        raise LockError(document.path, f"lock-version {said} is not known; {VERSION} is", line or None)
    if known[1] == "0":
        return ()
    said = f"lock-version {version} is newer than {VERSION}; what it adds is not understood"
    return (LockProblem(line, said, rule="wrong-format", text=version),)


def _digest_problems(packages: Sequence[Package], lines: Sequence[int]) -> Iterator[LockProblem]:
    """Report digests that can match nothing; packaging checks neither algorithm nor length."""
    for package, line in zip(packages, lines, strict=True):
        archive = (package.archive,) if package.archive is not None else ()
        sdist = (package.sdist,) if package.sdist is not None else ()
        for file in (*archive, *sdist, *(package.wheels or ())):
            for digest in _digests(file.hashes):
                if problem := digest_problem(digest):
                    said = f"package {quoted(package.name)}: {problem}"
                    yield LockProblem(line, said, "", "malformed-hash", digest.partition(":")[2], package.name)


def _digests(hashes: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{algorithm}:{value}" for algorithm, value in hashes.items())


def _fail(document: Document, error: PylockValidationError, lines: tuple[int, ...]) -> NoReturn:
    place = _PLACE.match(error.context or "")
    at = int(place[1]) if place else None
    line = lines[at] if at is not None and at < len(lines) else 0
    where = (error.context or "").removeprefix(place[0] if place else "").lstrip(".")
    name = _name(document.top, at) if at is not None else ""
    parts = (f"package {quoted(name)}" if name else "", where and f"key {quoted(where)}", shown(error.message))
    problem = "is not a valid pylock.toml: " + ": ".join(part for part in parts if part)
    raise LockError(document.path, problem, line or None) from error


def _name(top: Table, at: int) -> str:
    packages = top.get("packages")
    table = packages[at] if isinstance(packages, list) and at < len(packages) else {}
    return (text_of(table, "name") or "") if isinstance(table, dict) else ""


def _package(package: Package, version: str | None, line: int) -> LockedPackage:
    source, url = _source(package)
    return LockedPackage(
        name=package.name,
        version=version,
        marker=str(package.marker) if package.marker is not None else None,
        source=source,
        url=redact(url),
        artifacts=_artifacts(package),
        dependencies=tuple(_dependency(table) for table in package.dependencies or () if text_of(table, "name")),
        line=line,
        raw_name=package.name,
        requires_python=str(package.requires_python) if package.requires_python is not None else None,
    )


def _source(package: Package) -> tuple[SourceKind, str]:
    """Return the kind of source and its address; a commit is written behind @ as in PEP 508 requirements."""
    if package.vcs is not None:
        vcs = package.vcs
        return "vcs", f"{vcs.type}+{vcs.url or vcs.path}@{vcs.commit_id}"
    if package.directory is not None:
        return "editable" if package.directory.editable else "directory", package.directory.path
    if package.archive is not None:
        return "url", package.archive.url or package.archive.path or ""
    return "index", package.index or ""


def _artifacts(package: Package) -> tuple[Artifact, ...]:
    archive = package.archive
    if archive is not None:
        place = archive.url or archive.path or ""
        return (_artifact(file_name(place), place, archive.hashes, archive.size, archive.upload_time),)
    return tuple(map(_distribution, (*(package.wheels or ()), *((package.sdist,) if package.sdist else ()))))


def _distribution(file: PackageWheel | PackageSdist) -> Artifact:
    return _artifact(file.filename, file.url or file.path or "", file.hashes, file.size, file.upload_time)


def _artifact(name: str, url: str, hashes: Mapping[str, str], size: int | None, time: datetime | None) -> Artifact:
    digests = tuple(digest for digest in _digests(hashes) if digest_problem(digest) is None)
    return Artifact(name, redact(url), digests, size, time.isoformat().replace("+00:00", "Z") if time else None)


def _dependency(table: Mapping[str, Any]) -> LockedDependency:
    return LockedDependency(normalised(table["name"]), text_of(table, "version"))
