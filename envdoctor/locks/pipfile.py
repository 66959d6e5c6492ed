"""Pipfile.lock as a lock: `pipfile-spec` 6 (pipenv).

Sources: pipenv's documentation (Pipfile and Pipfile.lock; package categories; "Specifying package indexes": since
2022.3.23 a package without `index` comes from the first source), and locks that pipenv 2026.10.3 writes. Digests are a
bare list, as in a requirements file. Every category but `default` is a group; `pipenv install` takes `default` alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from envdoctor.errors import LockError
from envdoctor.locks import addresses, files
from envdoctor.locks.json_document import JsonDocument
from envdoctor.locks.notes import Notes
from envdoctor.locks.project import conjunction
from envdoctor.locks.text import ARCHIVES, file_name, is_name, name_and_version, normalised, quoted
from envdoctor.locks.toml import Table, only_tables, table_of, text_of, texts_of, unique
from envdoctor.model import Artifact, Lock, LockedPackage, LockOption, LockProblem, SourceKind
from envdoctor.printable import redact

SPEC = 6
CATEGORIES = 64
"""Of one lock; real ones have two to five."""
DEFAULT = "default"
_META = "_meta"
_VCS = ("git", "hg", "svn", "bzr")
_PIN = re.compile(r"\s*(===?)\s*([^\s*]+)\s*")
_VARIABLES = (
    *("os_name", "sys_platform", "platform_machine", "platform_python_implementation", "platform_release"),
    *("platform_system", "platform_version", "python_version", "python_full_version", "implementation_name"),
)
"""Marker variables that an entry may have as keys of their own: `"sys_platform": "== 'win32'"`."""


def parse(path: str, data: bytes) -> Lock:
    """Turn a Pipfile.lock into a Lock. Raises LockError for another spec; a faulty entry becomes a problem."""
    document = JsonDocument.parse(path, data)
    meta = table_of(document.top, _META)
    spec = meta.get("pipfile-spec")
    if spec != SPEC or isinstance(spec, bool):
        line = document.line_of(_META, "pipfile-spec")
        said = "no pipfile-spec is there" if spec is None else f"pipfile-spec {quoted(str(spec))} is not known"
        raise LockError(path, f"{said}; {SPEC} is: pipenv lock", line or None)
    reading = _Reading(document, sources=dict(_sources(meta)))
    categories = [name for name, value in document.top.items() if name != _META and isinstance(value, dict)]
    beyond = tuple(_beyond(document, categories))
    categories = categories[:CATEGORIES]
    found = (package for name in categories for package in reading.category(name))
    packages = tuple(islice(found, files.PINS))
    return Lock(
        path=path,
        format="pipfile",
        packages=packages,
        requires_python=_requires_python(table_of(meta, "requires")),
        groups=unique(normalised(name) for name in categories if name != DEFAULT and document.top[name]),
        indexes=unique(map(redact, reading.sources.values())),
        problems=(*_repeated(document), *_odd_categories(document), *beyond, *reading.notes.problems),
        options=tuple(_options(document, meta)),
    )


def _beyond(document: JsonDocument, categories: list[str]) -> Iterator[LockProblem]:
    """Say what is not read of a lock that is none by its size."""
    pins = sum(len(document.top[name]) for name in categories)
    if pins > files.PINS:
        said = f"the lock holds {pins:,} packages; what follows the first {files.PINS:,} is not read"
        yield LockProblem(0, said, rule="over-limit")
    if len(categories) > CATEGORIES:
        said = f"the lock holds {len(categories):,} categories; what follows the first {CATEGORIES} is not read"
        yield LockProblem(document.line_of(categories[CATEGORIES]), said, rule="over-limit")


def _sources(meta: Table) -> Iterator[tuple[str, str]]:
    for number, source in enumerate(only_tables(meta.get("sources"))):
        yield text_of(source, "name") or str(number), text_of(source, "url") or ""


def _requires_python(requires: Table) -> str | None:
    full, minor = text_of(requires, "python_full_version"), text_of(requires, "python_version")
    if full and re.fullmatch(r"\d+(\.\d+)+", full):
        return f"=={full}"
    return f"=={minor}.*" if minor and re.fullmatch(r"\d+(\.\d+)*", minor) else None


def _options(document: JsonDocument, meta: Table) -> Iterator[LockOption]:
    """Yield each source as the options of a requirements lock that say the same."""
    sources = meta.get("sources")
    for number, source in enumerate(sources if isinstance(sources, list) else ()):
        url = text_of(source, "url") if isinstance(source, dict) else None
        if not url:
            continue
        at = (_META, "sources", str(number))
        safe = redact(url)
        line = document.line_of(*at, "url") or document.line_of(*at)
        name = "--extra-index-url" if number else "--index-url"
        yield LockOption(name, safe, line, text=url if safe == url else '"url"')
        if source.get("verify_ssl") is False:
            line = document.line_of(*at, "verify_ssl") or line
            yield LockOption("--trusted-host", addresses.host(safe), line, text='"verify_ssl"')


def _repeated(document: JsonDocument) -> Iterator[LockProblem]:
    """Report keys that stand twice: JSON readers take the last one without a word, reviewers read the first."""
    for path, lines in document.keys.items():
        if len(lines) > 1 and len(document.keys.get(path[:-1], ())) < 2:
            said = f"the key {quoted(path[-1])} stands on lines {lines[0]} and {lines[1]}; the last one counts"
            subject = normalised(path[1]) if len(path) > 1 and path[0] != _META and is_name(path[1]) else ""
            yield LockProblem(lines[-1], said, "", "wrong-format", f'"{path[-1]}"', subject)


def _odd_categories(document: JsonDocument) -> Iterator[LockProblem]:
    for name, value in list(document.top.items())[:CATEGORIES]:
        if not isinstance(value, dict):
            yield LockProblem(document.line_of(name), f"{quoted(name)} is no table of packages", rule="wrong-format")


@dataclass(slots=True)
class _Reading:
    """What has been gathered so far."""

    document: JsonDocument
    sources: Mapping[str, str]
    """Name of a source -> its address."""
    notes: Notes = field(default_factory=Notes)

    def category(self, category: str) -> Iterator[LockedPackage]:
        """Read the packages of one category."""
        for raw, entry in self.document.top[category].items():
            self.notes.line = self.document.line_of(category, raw)
            if len(self.notes.problems) > files.PINS:
                return
            if not self.notes.told(_fault(raw, entry)):
                if (open_pin := _unpinned(raw, entry)) is not None:
                    self.notes.problem(open_pin, "unpinned", raw, normalised(raw))
                yield self._package(raw, entry, category)

    def _package(self, raw: str, entry: Table, category: str) -> LockedPackage:
        name = normalised(raw)
        kind, address = _source(entry)
        hashes = self.notes.digests(texts_of(entry, "hashes"), name)
        pin = _PIN.fullmatch(text_of(entry, "version") or "")
        found = name_and_version(file_name(address)) if kind == "url" else None
        return LockedPackage(
            name=name,
            version=pin[2] if pin else found[1] if found else None,
            marker=self._marker(entry, category),
            source=kind,
            url=redact(address if kind != "index" else self._index(entry, name)),
            artifacts=(Artifact(file_name(address), redact(address), hashes),) if kind == "url" else (),
            hashes=hashes,
            extras=tuple(sorted(map(normalised, texts_of(entry, "extras")))),
            line=self.notes.line,
            raw_name=raw,
            operator=pin[1] if pin else "==",
        )

    def _index(self, entry: Table, name: str) -> str:
        """Return the address of the source that an entry names, or of the only one there is."""
        named = text_of(entry, "index")
        if named is None:
            return next(iter(self.sources.values())) if len(self.sources) == 1 else ""
        if named not in self.sources:
            said = f"package {quoted(name)} is from the source {quoted(named)}, which the lock does not have"
            self.notes.problem(said, text=named, subject=name)
        return self.sources.get(named, "")

    def _marker(self, entry: Table, category: str) -> str | None:
        """Join what is said of the target with the group that asks for the package."""
        own = (f"{key} {text}" for key in _VARIABLES if (text := text_of(entry, key)))
        valid = [self.notes.marker(text) for text in (text_of(entry, "markers"), *own)]
        group = "" if category == DEFAULT else f'"{normalised(category)}" in dependency_groups'
        return conjunction((group, *valid))


def _source(entry: Table) -> tuple[SourceKind, str]:
    """Return the kind of source and its address; a commit is written behind @ as in PEP 508 requirements."""
    for kind in _VCS:
        if place := text_of(entry, kind):
            return "vcs", f"{kind}+{place.removeprefix(f'{kind}+')}@{text_of(entry, 'ref') or ''}"
    place = text_of(entry, "file") or text_of(entry, "path") or ""
    if not place:
        return "index", ""
    if "file" in entry or place.endswith(ARCHIVES):
        return "url", place
    return "editable" if entry.get("editable") is True else "directory", place


def _fault(raw: str, entry: object) -> str | None:
    """Say why an entry is no package, None if it is one."""
    if not is_name(raw):
        return f"{quoted(raw)} is no name of a package"
    return None if isinstance(entry, dict) else f"package {quoted(raw)} is no table"


def _unpinned(raw: str, entry: Table) -> str | None:
    """Say that an entry leaves the release open, None if it does not.

    pipenv writes `*` for what it could not find when it locked, such as what another Python or system needs.
    """
    version = text_of(entry, "version") or "*"
    if _source(entry)[0] != "index" or _PIN.fullmatch(version):
        return None
    return f"{quoted(raw)} is not pinned: its version is {quoted(version)}, and only ==VERSION names a release"
