"""poetry.lock as a lock: lock-version 1.1, 2.0 and 2.1 (Poetry 1.1 to 2.5).

The format is documented by Poetry's source only (poetry/packages/locker.py, 2.5.1). 2.1 records for each package the
groups that want it, and under which markers. What came before records who needs whom; who asks for all of it stands in
the pyproject.toml beside the lock. Hashes of 1.1 stand in `[metadata.files]`. A package without a source is from PyPI,
which Poetry implies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from envdoctor.errors import LockError
from envdoctor.locks import constraints, walking
from envdoctor.locks.notes import Notes, entries
from envdoctor.locks.project import DEV, Project, Wish, beside, conjunction, of_table
from envdoctor.locks.text import is_name, name_and_version, normalised, quoted, shown
from envdoctor.locks.toml import Document, Table, crowd, table_of, tables_of, text_of, texts_of, unique
from envdoctor.model import Artifact, Lock, LockedPackage, LockHeader, SourceKind
from envdoctor.printable import redact

VERSIONS = ("1.1", "2.0", "2.1")
MAIN = "main"
"""The group of what the project itself needs."""
_SOURCES: Mapping[str, SourceKind] = {
    "": "index",
    "pypi": "index",
    "legacy": "index",
    "git": "vcs",
    "url": "url",
    "file": "url",
    "directory": "directory",
}
_BY = re.compile(r"\bby (Poetry \S+)")
_EXTRA = re.compile(r"""\bextra\s*==\s*(?:"[^"]*"|'[^']*')""")
_ALWAYS = 'os_name != ""'


def parse(document: Document) -> Lock:
    """Turn a poetry.lock into a Lock. Raises LockError for another version; a faulty entry becomes a problem."""
    metadata = table_of(document.top, "metadata")
    version = text_of(metadata, "lock-version")
    if version not in VERSIONS:
        found = metadata.get("lock-version")
        said = quoted(str(found)) if isinstance(found, str | None) else f"{shown(str(found))}, not in quotes,"
        raise LockError(
            document.path,
            f"poetry.lock version {said} is not known; {', '.join(VERSIONS[:-1])} and {VERSIONS[-1]} are: poetry lock",
            document.line_of("lock-version"),
        )
    reading = _Reading(document, _old_files(metadata))
    project = beside(document.path)
    found = reading.all()
    extras = _extras(document.top)
    groups = unique((MAIN, *(group for entry in found for group in entry.groups)))
    recorded = any(entry.groups for entry in found) or version == VERSIONS[-1]
    optional = project.optional_groups if project is not None else ()
    lock = Lock(
        path=document.path,
        format="poetry",
        packages=tuple(entry.package for entry in found),
        project=project.name if project is not None else None,
        requires_python=constraints.requires_python(text_of(metadata, "python-versions")),
        extras=tuple(extras),
        groups=groups,
        default_groups=tuple(group for group in groups if group not in optional),
        indexes=unique(entry.package.url for entry in found if entry.package.source == "index"),
        problems=(*reading.notes.problems, *crowd(found)),
        header=_header(document),
    )
    return lock if recorded else _walked(lock, found, project, extras, version)


def _header(document: Document) -> LockHeader:
    match = _BY.search(document.text[: document.text.find("\n")])
    return LockHeader(shown(match[1]), line=1) if match else LockHeader()


def _extras(top: Table) -> dict[str, tuple[str, ...]]:
    """Return the project's extras with the names of what they bring."""
    extras = table_of(top, "extras")
    return {normalised(extra): tuple(map(_name_in, texts_of(extras, extra))) for extra in extras}


def _name_in(text: str) -> str:
    match = re.match(r"[A-Za-z0-9][\w.-]*", text)
    return normalised(match[0]) if match else ""


def _old_files(metadata: Table) -> dict[str, list[Table]]:
    files = table_of(metadata, "files")
    return {normalised(name): tables_of(files, name) for name in files}


def _walked(
    lock: Lock, found: list[_Entry], project: Project | None, extras: Mapping[str, tuple[str, ...]], version: str
) -> Lock:
    """Add the edges, and a root that asks for what pyproject.toml asks for, or is likely asked for."""
    versions = walking.several((entry.package.name, entry.package.version) for entry in found)
    packages = [
        replace(entry.package, dependencies=tuple(walking.edges(entry.wishes, versions))) for entry in found
    ]  # fmt: skip
    if project is not None:
        wishes: Iterable[Wish] = project.wishes
        groups, unsaid = unique((MAIN, *project.groups)), ""
    else:
        optional = frozenset(entry.package.name for entry in found if entry.optional)
        dev = frozenset(entry.package.name for entry in found if entry.dev)
        brought = (Wish(name, when=(f"extra:{extra}",)) for extra, names in extras.items() for name in names)
        wishes = (*walking.likely(packages, dev, optional), *brought)
        groups = (MAIN, DEV) if dev else (MAIN,)
        unsaid = f"poetry.lock {version} does not record who asks for a package, and no pyproject.toml lies beside it"
    kept = tuple(group for group in groups if project is None or group not in project.optional_groups)
    asked = walking.root(walking.edges(wishes, versions))
    return replace(
        lock,
        packages=(*packages, asked),
        roots=(walking.ROOT,),
        groups=groups,
        default_groups=kept,
        unsaid=unsaid,
    )


@dataclass(slots=True)
class _Entry:
    """A package with what the model does not hold."""

    package: LockedPackage
    groups: tuple[str, ...]
    wishes: tuple[Wish, ...]
    optional: bool
    """True if only extras want it."""
    dev: bool
    """True if only the group `dev` wants it (1.1 records that)."""


@dataclass(slots=True)
class _Reading:
    """What has been gathered so far."""

    document: Document
    files: Mapping[str, list[Table]]
    """Normalised name -> files of all its versions (1.1)."""
    notes: Notes = field(default_factory=Notes)

    def all(self) -> list[_Entry]:
        """Read every `[[package]]`."""
        return [
            self._entry(table) for table in entries(self.document, self.notes) if not self.notes.told(_fault(table))
        ]

    def _entry(self, table: Table) -> _Entry:
        groups = tuple(map(normalised, texts_of(table, "groups")))
        wishes = tuple(self._wishes(table)) if not groups else ()
        optional, dev = table.get("optional") is True, text_of(table, "category") == DEV
        return _Entry(self._package(table, groups), groups, wishes, optional, dev)

    def _package(self, table: Table, groups: tuple[str, ...]) -> LockedPackage:
        raw, version = table["name"], table["version"]
        name = normalised(raw)
        kind, address = _source(table)
        tables = tables_of(table, "files") if "files" in table else _own(self.files.get(name, []), version)
        needs = (wish for wish in of_table(table_of(table, "dependencies")) if groups and not wish.when)
        return LockedPackage(
            name=name,
            version=version,
            marker=self._marker(table, groups),
            source=kind,
            url=redact(address),
            artifacts=self._artifacts(tables, name, address if kind == "url" else ""),
            dependencies=tuple(walking.edges(needs, {})),
            line=self.notes.line,
            raw_name=raw,
            requires_python=constraints.requires_python(text_of(table, "python-versions")),
        )

    def _artifacts(self, tables: Iterable[Table], name: str, address: str) -> tuple[Artifact, ...]:
        found = tuple(
            Artifact(text_of(item, "file") or "", redact(address), self.notes.digests([text_of(item, "hash")], name))
            for item in tables
        )
        return found or ((Artifact(address.rsplit("/", 1)[-1], redact(address)),) if address else ())

    def _marker(self, table: Table, groups: tuple[str, ...]) -> str | None:
        """Join what each group asks under which marker (2.1); what the group `main` asks for is always on."""
        given = table.get("markers")
        each = {normalised(group): text for group, text in given.items()} if isinstance(given, dict) else {}
        plain = given if isinstance(given, str) else None
        choices: list[str | None] = []
        for group in groups:
            own = each.get(group) if isinstance(each.get(group), str) else None
            chosen = None if group == MAIN else f'"{group}" in dependency_groups'
            choices.append(conjunction((chosen, self.notes.marker(own))))
        together = None if None in choices else " or ".join(f"({choice})" for choice in choices if choice)
        if len(choices) == 1 and choices[0]:
            together = choices[0]
        return conjunction((together, self.notes.marker(plain)))

    def _wishes(self, table: Table) -> Iterator[Wish]:
        """Yield what a package needs, by which of its extras where only those need it."""
        extras = table_of(table, "extras")
        by_name: dict[str, list[str]] = {}
        for extra in extras:
            for name in map(_name_in, texts_of(extras, extra)):
                by_name.setdefault(name, []).append(f"extra:{normalised(extra)}")
        for wish in of_table(table_of(table, "dependencies")):
            marker = self.notes.marker(wish.marker)
            when = tuple(by_name.get(wish.name, ())) if wish.when else ()
            if when or not wish.when:
                marker = marker if marker is None or not when else _without_extra(marker)
                yield replace(wish, marker=marker, when=when)


def _without_extra(marker: str) -> str | None:
    """Take `extra == ...` out of a marker whose edge is followed for that extra alone."""
    rest = _EXTRA.sub(_ALWAYS, marker)
    return None if rest == _ALWAYS else rest


def _own(files: list[Table], version: str) -> list[Table]:
    """Return the files of one version; `[metadata.files]` holds those of all under one name."""
    return [item for item in files if _version_in(item) == version] or files


def _version_in(item: Table) -> str:
    found = name_and_version(text_of(item, "file") or "")
    return found[1] if found else ""


def _source(table: Table) -> tuple[SourceKind, str]:
    source = table_of(table, "source")
    kind, url = _SOURCES[text_of(source, "type") or ""], text_of(source, "url") or ""
    if kind == "vcs":
        return kind, f"git+{url}@{text_of(source, 'resolved_reference') or text_of(source, 'reference') or ''}"
    return ("editable" if kind == "directory" and table.get("develop") is True else kind), url


def _fault(table: Table) -> str | None:
    """Say why an entry is no package, None if it is one."""
    name = text_of(table, "name")
    if not name or not is_name(name):
        return "a package has no proper name"
    if text_of(table, "version") is None:
        return f"package {quoted(name)} has no version"
    if (text_of(table_of(table, "source"), "type") or "") not in _SOURCES:
        return f"package {quoted(name)} has a source that is not known"
    return None
