"""uv.lock as a lock: version 1 of uv's own format (uv 0.13.9 writes revision 5 of it).

The format is documented by uv's source only (crates/uv-resolver/src/lock). Unknown keys are ignored, as uv does for
later revisions of version 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from envdoctor.errors import LockError
from envdoctor.locks.graph import made_up
from envdoctor.locks.text import digest_problem, file_name, is_name, normalised, quoted, shown
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
from envdoctor.model import Artifact, Lock, LockedDependency, LockedPackage, LockOption, LockProblem, SourceKind
from envdoctor.printable import redact

VERSION = 1
DEFAULT_GROUP = "dev"
"""The group that uv installs unasked (docs: `tool.uv.default-groups`); the lock does not record another choice."""
WORKSPACE = ""
"""Name of the package that stands for a workspace root without a project of its own, or for a script."""
_SOURCES: dict[str, SourceKind] = {
    "registry": "index",
    "git": "vcs",
    "url": "url",
    "path": "url",
    "directory": "directory",
    "editable": "editable",
    "virtual": "virtual",
}


def parse(document: Document) -> Lock:
    """Turn a uv.lock document into a Lock. Raises LockError for another version; a faulty entry becomes a problem."""
    top = document.top
    if top.get("version") != VERSION or isinstance(top.get("version"), bool):
        said = shown(str(top.get("version")))
        raise LockError(document.path, f"uv.lock version {said} is not known; {VERSION} is")
    if "distribution" in top and "package" not in top:
        raise LockError(document.path, "has no [[package]] tables but [[distribution]]; lock it again with a newer uv")
    reading = _Reading(document)
    packages = reading.all()
    project = next((name for name, table in reading.members.items() if _is_root(_source(table))), None)
    roots = _roots(top, project, reading)
    tables = [top["manifest"] if name == WORKSPACE else reading.members[name] for name in roots]
    groups = unique(map(normalised, (group for table in tables for group in _group_names(table))))
    return Lock(
        path=document.path,
        format="uv",
        packages=packages,
        project=project,
        roots=roots,
        requires_python=text_of(top, "requires-python"),
        environments=texts_of(top, "supported-markers"),
        extras=unique(map(normalised, (extra for table in tables for extra in _extra_names(table)))),
        groups=groups,
        default_groups=(DEFAULT_GROUP,) if DEFAULT_GROUP in groups else (),
        indexes=unique(package.url for package in packages if package.source == "index"),
        problems=(*reading.problems, *_dangling(packages), *_rootless(packages, roots), *crowd(packages)),
        options=tuple(_options(document)),
        conflicts=tuple(_conflicts(top)),
        overridden=unique(map(normalised, _overridden(table_of(top, "manifest")))),
    )


def _options(document: Document) -> Iterator[LockOption]:
    """Yield how it was resolved, as far as a rule is about it; as an option that may stand in a requirements lock."""
    mode = text_of(table_of(document.top, "options"), "prerelease-mode")
    match = re.search(r"^[ \t]*(prerelease-mode[ \t]*=.*?)[ \t]*\r?$", document.text, re.MULTILINE)
    if mode == "allow" and match is not None:
        line = document.text.count("\n", 0, match.start()) + 1
        yield LockOption("--pre", "", line, text=match[1])


def _conflicts(top: Table) -> Iterator[tuple[str, ...]]:
    """Yield each set of conflicts, its members by their made-up names."""
    sets = top.get("conflicts")
    for found in sets if isinstance(sets, list) else ():
        if tables := only_tables(found):
            yield tuple(map(_member, tables))


def _member(table: Table) -> str:
    kind = next((kind for kind in ("extra", "group") if kind in table), "")
    return made_up(normalised(text_of(table, "package") or ""), kind, normalised(text_of(table, kind) or ""))


def _is_root(source: dict[str, str]) -> bool:
    return any(value == "." for kind, value in source.items() if kind in ("directory", "editable", "virtual"))


def _roots(top: Table, project: str | None, reading: _Reading) -> tuple[str, ...]:
    """Return what `uv sync` starts from: the project at the lock's side, else every member of the workspace."""
    if project is not None:
        return (project, WORKSPACE) if reading.workspace else (project,)
    named = [normalised(name) for name in texts_of(table_of(top, "manifest"), "members")]
    members = [name for name in named or reading.members if name in reading.members]
    return (*members, WORKSPACE) if reading.workspace else tuple(members)


def _extra_names(table: Table) -> Iterable[str]:
    return (*table_of(table, "optional-dependencies"), *texts_of(table_of(table, "metadata"), "provides-extras"))


def _group_names(table: Table) -> Iterable[str]:
    declared = table_of(table_of(table, "metadata"), "requires-dev")
    return (*table_of(table, "dev-dependencies"), *declared, *table_of(table, "dependency-groups"))


def _dangling(packages: Iterable[LockedPackage]) -> Iterator[LockProblem]:
    """Report edges to packages or versions that the lock does not hold: a merge or an edit went wrong."""
    packages = tuple(packages)
    held = {pair for package in packages for pair in ((package.name, None), (package.name, package.version))}
    for package in packages:
        missing = {edge.name: edge.version for edge in package.dependencies if (edge.name, edge.version) not in held}
        for name, version in missing.items():
            owner = quoted(package.raw_name) if package.name else "the workspace"
            what = f"{name} {version}" if version and (name, None) in held else name
            said = f"{owner} depends on {quoted(what)}, which the lock does not hold"
            yield LockProblem(package.line, said, "", "incomplete", name, name)


def _rootless(packages: tuple[LockedPackage, ...], roots: tuple[str, ...]) -> Iterator[LockProblem]:
    if packages and not roots:
        said = "the lock holds no project or workspace member, so nothing says which packages are wanted"
        yield LockProblem(0, said, rule="wrong-format")


@dataclass(slots=True)
class _Reading:
    """What has been gathered so far."""

    document: Document
    problems: list[LockProblem] = field(default_factory=list)
    members: dict[str, Table] = field(default_factory=dict)
    """Packages whose source is a folder: the workspace's members and path dependencies."""
    workspace: bool = False
    """True if the workspace itself, or a script, asks for packages."""
    markers: dict[str, bool] = field(default_factory=dict)
    """Markers that were met -> whether they can be parsed."""
    line: int = 0

    def all(self) -> tuple[LockedPackage, ...]:
        """Read every `[[package]]`, and what the manifest asks for beside them."""
        tables = self.document.top.get("package", [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise LockError(self.document.path, "`package` is not an array of tables")
        packages = []
        for table, line in zip(tables, self.document.lines("package", len(tables)), strict=True):
            self.line = line
            fault = _fault(table)
            if fault is None:
                packages.append(self._package(table))
            else:
                self._problem(fault)
        self.line = 0
        edges = tuple(self._manifest_edges(table_of(self.document.top, "manifest")))
        if edges:
            self.workspace = True
            packages.append(LockedPackage(WORKSPACE, None, source="virtual", dependencies=edges))
        return tuple(packages)

    def _problem(self, message: str, rule: str = "wrong-format", text: str = "", subject: str = "") -> None:
        self.problems.append(LockProblem(self.line, message, "", rule, text, subject))

    def _package(self, table: Table) -> LockedPackage:
        source = _source(table)
        kind = next(kind for kind in source if kind in _SOURCES)
        raw = table["name"]
        name = normalised(raw)
        if _SOURCES[kind] in ("directory", "editable", "virtual"):
            self.members.setdefault(name, table)
        forks = [fork for fork in texts_of(table, "resolution-markers") if self._valid(fork)]
        return LockedPackage(
            name=name,
            version=text_of(table, "version"),
            marker=" or ".join(f"({fork})" for fork in forks) or None,
            source=_SOURCES[kind],
            url=redact(source[kind]),
            artifacts=tuple(self._artifacts(table, source[kind])),
            dependencies=tuple(self._edges(table)),
            line=self.line,
            raw_name=raw,
        )

    def _artifacts(self, table: Table, source: str) -> Iterator[Artifact]:
        for item in (*tables_of(table, "wheels"), *only_tables([table.get("sdist")])):
            place = text_of(item, "url") or text_of(item, "path") or ""
            name = text_of(item, "filename") or file_name(place or source)
            digest = text_of(item, "hash")
            problem = digest_problem(digest) if digest is not None else None
            if problem is not None:
                owner = normalised(text_of(table, "name") or "")
                self._problem(f"{quoted(name)}: {problem}", "malformed-hash", digest or "", owner)
            hashes = (digest,) if digest is not None and problem is None else ()
            yield Artifact(name, redact(place or source), hashes, size_of(item), text_of(item, "upload-time"))

    def _edges(self, table: Table) -> Iterator[LockedDependency]:
        yield from self._edges_of(tables_of(table, "dependencies"), ())
        for extra, edges in table_of(table, "optional-dependencies").items():
            yield from self._edges_of(only_tables(edges), (f"extra:{normalised(extra)}",))
        for group, edges in table_of(table, "dev-dependencies").items():
            yield from self._edges_of(only_tables(edges), (f"group:{normalised(group)}",))

    def _manifest_edges(self, manifest: Table) -> Iterator[LockedDependency]:
        yield from self._edges_of(tables_of(manifest, "requirements"), ())
        for group, edges in table_of(manifest, "dependency-groups").items():
            yield from self._edges_of(only_tables(edges), (f"group:{normalised(group)}",))

    def _edges_of(self, tables: Iterable[Table], when: tuple[str, ...]) -> Iterator[LockedDependency]:
        for table in tables:
            name, marker = text_of(table, "name"), text_of(table, "marker")
            if not name or not is_name(name):
                self._problem("a dependency has no proper name")
            elif marker is None or self._valid(marker):
                yield LockedDependency(
                    name=normalised(name),
                    version=text_of(table, "version"),
                    marker=marker,
                    extras=tuple(map(normalised, texts_of(table, "extra") or texts_of(table, "extras"))),
                    when=when,
                    url=redact(next(iter(_source(table).values()), "")),
                )

    def _valid(self, marker: str) -> bool:
        """Return whether a marker can be parsed; say so once if it cannot."""
        from packaging.markers import InvalidMarker, Marker

        if marker not in self.markers:
            try:
                Marker(marker)
            except (InvalidMarker, RecursionError):
                self._problem(f"{quoted(marker)} is no marker")
                self.markers[marker] = False
            else:
                self.markers[marker] = True
        return self.markers[marker]


def _overridden(manifest: Table) -> Iterator[str]:
    for key in ("overrides", "dependency-metadata"):
        yield from (name for table in tables_of(manifest, key) if (name := text_of(table, "name")))


def _fault(table: Table) -> str | None:
    """Say why an entry is no package, None if it is one."""
    name = text_of(table, "name")
    if not name or not is_name(name):
        return "a package has no proper name"
    kinds = [kind for kind in _source(table) if kind in _SOURCES]
    if not kinds:
        return f"package {quoted(name)} has a source that is not known"
    if text_of(table, "version") is None and kinds[0] in ("registry", "url", "path"):
        return f"package {quoted(name)} has no version"
    return None


def _source(table: Table) -> dict[str, str]:
    """Return the texts of a `source` table; other entries have no say in where a package comes from."""
    return {kind: value for kind, value in table_of(table, "source").items() if isinstance(value, str)}
