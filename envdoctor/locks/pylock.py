"""pylock.toml as a lock (PEP 751).

`packaging.pylock` says whether a file is valid. It stops at the first fault, so where it finds one each package is held
against it alone; packages are read off the TOML itself, so that a faulty one is read as far as it can be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NoReturn

from packaging.markers import InvalidMarker, Marker
from packaging.pylock import Pylock, PylockValidationError

from envdoctor.errors import LockError
from envdoctor.locks import comments
from envdoctor.locks.text import TAGS, digest_problem, file_name, is_name, normalised, quoted, shown, tag_count
from envdoctor.locks.toml import (
    Document,
    Table,
    crowd,
    only_tables,
    size_of,
    table_of,
    tables_of,
    text_of,
    texts_of,
    unique,
)
from envdoctor.model import Artifact, Lock, LockedDependency, LockedPackage, LockHeader, LockProblem, SourceKind
from envdoctor.printable import redact

VERSION = "1.0"
"""The lock-version that is known; a later minor version may add what is not understood."""
_TOLD = re.compile(r"is not normalized in|is not consistent with|^At least one hash must be|hashes'$")
"""Errors of packaging (26.4) that rules of their own tell: unnormalised-name, file-name-mismatch, partly-hashed."""


def parse(document: Document) -> Lock:
    """Turn a pylock document into a Lock. Raises LockError where what is not a package does not meet PEP 751."""
    problems = _version_problems(document)
    tables = document.top.get("packages")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        _fail(document, _error(document.top, tables))
    lines = document.lines("packages", len(tables))
    for table, line in zip(tables, lines, strict=True):
        for name in (file_name(text_of(file, "url") or text_of(file, "path") or "") for file in _files(table)):
            if name.endswith(".whl") and tag_count(name) > TAGS:
                raise LockError(document.path, f"a wheel's name stands for more than {TAGS:,} tags", line or None)
    if _error(document.top, tables) is not None:
        head = _error(document.top, [])
        if head is not None:
            _fail(document, head)
        problems += tuple(_invalid(tables, lines))
    named = [(table, line) for table, line in zip(tables, lines, strict=True) if _named(table)]
    top = document.top
    groups = unique(map(normalised, (*texts_of(top, "dependency-groups"), *texts_of(top, "default-groups"))))
    return Lock(
        path=document.path,
        format="pylock",
        packages=tuple(_package(table, line) for table, line in named),
        requires_python=text_of(top, "requires-python"),
        environments=tuple(str(Marker(text)) for text in texts_of(top, "environments")),
        extras=texts_of(top, "extras"),
        groups=groups,
        default_groups=unique(map(normalised, texts_of(top, "default-groups"))),
        indexes=unique(redact(text_of(table, "index") or "") for table, _ in named),
        problems=(*problems, *_digest_problems(named), *crowd(tables)),
        header=_header(document),
    )


def _header(document: Document) -> LockHeader:
    """Return what uv's comments say of the lock's making, else `created-by` alone."""
    said = comments.header(document.text)
    return said if said.tool else LockHeader(shown(text_of(document.top, "created-by") or ""))


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
    return (LockProblem(line, said, rule="wrong-format", text=version, mild=True),)


def _error(top: Table, packages: object) -> PylockValidationError | None:
    """Return the first thing that PEP 751 forbids in a lock that holds these packages."""
    try:
        Pylock.from_dict({**top, "lock-version": VERSION, "packages": packages})
    except PylockValidationError as error:
        return error
    return None


def _fail(document: Document, error: PylockValidationError | None) -> NoReturn:
    raise LockError(document.path, f"is not a valid pylock.toml: {_said(error)}") from error


def _said(error: PylockValidationError | None) -> str:
    where = re.sub(r"^packages\[\d+\]\.?", "", (error and error.context) or "")
    parts = (f"key {quoted(where)}" if where else "", shown(error.message) if error else "")
    return ": ".join(part for part in parts if part)


def _invalid(tables: Sequence[Table], lines: Sequence[int]) -> Iterator[LockProblem]:
    """Report what makes single packages invalid, where no other rule does."""
    for table, line in zip(tables, lines, strict=True):
        error = _error({"created-by": ""}, [table])
        if error is not None and not (_named(table) and _TOLD.search(str(error))):
            name = text_of(table, "name") or ""
            whose = f"package {quoted(name)}: " if name else "a package: "
            subject = normalised(name) if is_name(name) else ""
            yield LockProblem(line, f"{whose}{_said(error)}", rule="wrong-format", text=name, subject=subject)


def _named(table: Table) -> bool:
    return is_name(text_of(table, "name") or "")


def _digest_problems(named: Sequence[tuple[Table, int]]) -> Iterator[LockProblem]:
    """Report digests that can match nothing; packaging checks neither algorithm nor length."""
    for table, line in named:
        name = table["name"]
        for digest in (digest for file in _files(table) for digest in _digests(file)):
            if problem := digest_problem(digest):
                said = f"package {quoted(name)}: {problem}"
                yield LockProblem(line, said, "", "malformed-hash", digest.partition(":")[2], normalised(name))


def _files(table: Table) -> list[Table]:
    """Return an archive, or the wheels and the sdist."""
    archive = only_tables([table.get("archive")])
    return archive or [*tables_of(table, "wheels"), *only_tables([table.get("sdist")])]


def _digests(file: Table) -> tuple[str, ...]:
    hashes = table_of(file, "hashes")
    return tuple(f"{algorithm}:{value}" for algorithm, value in hashes.items() if isinstance(value, str))


def _package(table: Table, line: int) -> LockedPackage:
    source, url = _source(table)
    return LockedPackage(
        name=normalised(table["name"]),
        version=text_of(table, "version"),
        marker=_marker(text_of(table, "marker")),
        source=source,
        url=redact(url),
        artifacts=tuple(map(_artifact, _files(table))),
        dependencies=tuple(_dependency(each) for each in tables_of(table, "dependencies") if text_of(each, "name")),
        line=line,
        raw_name=table["name"],
        requires_python=text_of(table, "requires-python"),
    )


def _marker(text: str | None) -> str | None:
    """Return a marker as packaging writes it; one that is none is as good as missing, and told as invalid."""
    try:
        return None if text is None else str(Marker(text))
    except (InvalidMarker, RecursionError):
        return None


def _source(table: Table) -> tuple[SourceKind, str]:
    """Return the kind of source and its address; a commit is written behind @ as in PEP 508 requirements."""
    if vcs := table_of(table, "vcs"):
        place = text_of(vcs, "url") or text_of(vcs, "path")
        return "vcs", f"{text_of(vcs, 'type')}+{place}@{text_of(vcs, 'commit-id') or ''}"
    if directory := table_of(table, "directory"):
        return "editable" if directory.get("editable") is True else "directory", text_of(directory, "path") or ""
    if archive := table_of(table, "archive"):
        return "url", _place(archive)
    return "index", text_of(table, "index") or ""


def _place(file: Table) -> str:
    return text_of(file, "url") or text_of(file, "path") or ""


def _artifact(file: Table) -> Artifact:
    """Return a file; name before path before url, as packaging takes its name."""
    name = text_of(file, "name") or file_name(text_of(file, "path") or text_of(file, "url") or "")
    digests = tuple(digest for digest in _digests(file) if digest_problem(digest) is None)
    time = file.get("upload-time")
    uploaded = time.isoformat().replace("+00:00", "Z") if isinstance(time, datetime) else None
    return Artifact(name, redact(_place(file)), digests, size_of(file), uploaded)


def _dependency(table: Mapping[str, Any]) -> LockedDependency:
    return LockedDependency(normalised(table["name"]), text_of(table, "version"))
