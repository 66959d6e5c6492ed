"""pdm.lock as a lock: lock_version 4.x (PDM 2).

The format is documented by PDM's source only (pdm/project/lockfile/pdmlock.py and models/repositories/lock.py, 2.29.4).
By the strategy `inherit_metadata` each package records the groups that want it, and under which marker; otherwise the
lock records who needs whom, and who asks for all of it stands in the pyproject.toml beside the lock. A package with
extras is a second entry. The index is not recorded, the address of a file only by the strategy `static_urls`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from envdoctor.errors import LockError
from envdoctor.locks import constraints, walking
from envdoctor.locks.notes import Notes, entries
from envdoctor.locks.project import Project, Wish, beside, conjunction, of_pep508
from envdoctor.locks.text import ARCHIVES, file_name, is_name, normalised, quoted
from envdoctor.locks.toml import Document, Table, crowd, table_of, tables_of, text_of, texts_of, unique
from envdoctor.model import Artifact, Lock, LockedPackage, LockHeader, LockProblem, SourceKind
from envdoctor.printable import redact

NEWEST = (4, 5)
"""The lock_version that is known; what a later minor version adds is not understood."""
DEFAULT = "default"
"""The group of what the project itself needs."""
_VCS = ("git", "hg", "svn", "bzr")
_ROOT = re.compile(r"^file:/*\$\{PROJECT_ROOT\}/?")
"""How PDM writes an address below the project."""


def parse(document: Document) -> Lock:
    """Turn a pdm.lock into a Lock. Raises LockError for another version; a faulty entry becomes a problem."""
    metadata = table_of(document.top, "metadata")
    problems = _version_problems(document, metadata)
    reading = _Reading(document, table_of(metadata, "files"), Notes(problems))
    project = beside(document.path)
    found = reading.all()
    recorded = any(entry.groups for entry in found)
    groups = unique((DEFAULT, *map(normalised, texts_of(metadata, "groups"))))
    groups = unique((*groups, *(group for entry in found for group in entry.groups)))
    dev = project.groups if project is not None else ()
    pythons = {text_of(target, "requires_python") or "" for target in tables_of(metadata, "targets")}
    lock = Lock(
        path=document.path,
        format="pdm",
        packages=tuple(entry.package for entry in found),
        project=project.name if project is not None else None,
        requires_python=constraints.requires_python(pythons.pop()) if len(pythons) == 1 else None,
        groups=groups,
        default_groups=(DEFAULT, *(group for group in groups if group in dev and group != DEFAULT)),
        problems=(*reading.notes.problems, *crowd(found)),
        header=LockHeader("PDM"),
    )
    return lock if recorded else _walked(lock, found, project)


def _version_problems(document: Document, metadata: Table) -> list[LockProblem]:
    """Judge `lock_version`: a later minor version is a problem. Raises LockError for another major one."""
    version = text_of(metadata, "lock_version") or ""
    known = re.fullmatch(r"(\d{1,4})\.(\d{1,4})(\.\d+)*", version)
    line = document.line_of("lock_version")
    if known is None or int(known[1]) != NEWEST[0]:
        said = quoted(str(metadata.get("lock_version")))
        raise LockError(document.path, f"pdm.lock version {said} is not known; {NEWEST[0]}.x is: pdm lock", line)
    if (int(known[1]), int(known[2])) <= NEWEST:
        return []
    said = f"lock_version {version} is newer than {NEWEST[0]}.{NEWEST[1]}; what it adds is not understood"
    return [LockProblem(line or 0, said, rule="wrong-format", text=version, mild=True)]


def _walked(lock: Lock, found: list[_Entry], project: Project | None) -> Lock:
    """Add the edges, and a root that asks for what pyproject.toml asks for, or is likely asked for."""
    plain = [entry for entry in found if not entry.package.extras]
    versions = walking.several((entry.package.name, entry.package.version) for entry in plain)
    with_extras = _of_extras(found)
    packages = [
        replace(
            entry.package,
            dependencies=tuple(walking.edges((*entry.wishes, *with_extras.get(_key(entry.package), ())), versions)),
        )
        for entry in plain
    ]
    unsaid = "" if project is not None else "the pdm.lock does not record who asks for a package (strategy "
    unsaid += "" if project is not None else "inherit_metadata), and no pyproject.toml lies beside it"
    wishes = project.wishes if project is not None else walking.likely(packages, frozenset(), frozenset())
    asked = walking.root(walking.edges(wishes, versions))
    extras = tuple(entry.package for entry in found if entry.package.extras)
    return replace(lock, packages=(*packages, *extras, asked), roots=(walking.ROOT,), unsaid=unsaid)


def _key(package: LockedPackage) -> tuple[str, str | None]:
    return package.name, package.version


def _of_extras(found: Iterable[_Entry]) -> dict[tuple[str, str | None], list[Wish]]:
    """Return what the second entries of packages need, by the extras that they stand for."""
    needed: dict[tuple[str, str | None], list[Wish]] = {}
    for entry in found:
        when = tuple(f"extra:{extra}" for extra in entry.package.extras)
        if when:
            own = (wish for wish in entry.wishes if wish.name != entry.package.name)
            needed.setdefault(_key(entry.package), []).extend(replace(wish, when=when) for wish in own)
    return needed


@dataclass(slots=True)
class _Entry:
    """A package with what the model does not hold."""

    package: LockedPackage
    groups: tuple[str, ...]
    wishes: tuple[Wish, ...]


@dataclass(slots=True)
class _Reading:
    """What has been gathered so far."""

    document: Document
    files: Mapping[str, object]
    """`NAME VERSION` -> files (before 4.3)."""
    notes: Notes

    def all(self) -> list[_Entry]:
        """Read every `[[package]]`."""
        return [
            self._entry(table) for table in entries(self.document, self.notes) if not self.notes.told(_fault(table))
        ]

    def _entry(self, table: Table) -> _Entry:
        groups = tuple(map(normalised, texts_of(table, "groups")))
        wishes = tuple(self._wishes(table))
        return _Entry(self._package(table, groups, wishes), groups, wishes)

    def _package(self, table: Table, groups: tuple[str, ...], wishes: Iterable[Wish]) -> LockedPackage:
        raw, version = table["name"], text_of(table, "version")
        name = normalised(raw)
        kind, address = _source(table)
        return LockedPackage(
            name=name,
            version=version,
            marker=self._marker(table, groups),
            source=kind,
            url=redact(address),
            artifacts=tuple(self._artifacts(table, name, address if kind == "url" else "")),
            dependencies=tuple(walking.edges((wish for wish in wishes if wish.name != name), {})),
            extras=tuple(sorted(map(normalised, texts_of(table, "extras")))),
            line=self.notes.line,
            raw_name=raw,
            requires_python=constraints.requires_python(text_of(table, "requires_python")),
        )

    def _artifacts(self, table: Table, name: str, address: str) -> Iterator[Artifact]:
        old = f"{table['name']} {text_of(table, 'version')}"
        tables = tables_of(table, "files") or tables_of(self.files, old)
        for item in tables:
            url = _ROOT.sub("", text_of(item, "url") or address)
            yield Artifact(
                text_of(item, "file") or file_name(url), redact(url), self.notes.digests([text_of(item, "hash")], name)
            )
        if address and not tables:
            yield Artifact(file_name(address), redact(address))

    def _marker(self, table: Table, groups: tuple[str, ...]) -> str | None:
        """Join the marker with the groups that want the package; the group `default` is always on."""
        choice = " or ".join(f'"{group}" in dependency_groups' for group in groups)
        return conjunction((choice if DEFAULT not in groups else None, self.notes.marker(text_of(table, "marker"))))

    def _wishes(self, table: Table) -> Iterator[Wish]:
        for text in texts_of(table, "dependencies"):
            wish = of_pep508(text)
            if wish is None:
                self.notes.problem(f"package {quoted(table['name'])}: {quoted(text)} is no requirement", text=text)
            else:
                yield wish


def _source(table: Table) -> tuple[SourceKind, str]:
    """Return the kind of source and its address; a commit is written behind @ as in PEP 508 requirements."""
    for kind in _VCS:
        if place := text_of(table, kind):
            return "vcs", f"{kind}+{place}@{text_of(table, 'revision') or text_of(table, 'ref') or ''}"
    place = _ROOT.sub("", text_of(table, "path") or text_of(table, "url") or "")
    if not place:
        return "index", ""
    if "path" not in table or place.endswith(ARCHIVES):
        return "url", place
    return "editable" if table.get("editable") is True else "directory", place


def _fault(table: Table) -> str | None:
    """Say why an entry is no package, None if it is one."""
    name = text_of(table, "name")
    if not name or not is_name(name):
        return "a package has no proper name"
    if text_of(table, "version") is None and _source(table)[0] == "index":
        return f"package {quoted(name)} has no version"
    return None
