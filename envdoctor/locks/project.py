"""What the pyproject.toml beside a lock asks for, where the lock does not record who wants its packages.

Sources: PEP 621 (`[project]`), PEP 735 (`[dependency-groups]`), Poetry's documentation (The pyproject.toml file,
Managing dependencies), PDM's documentation (`[tool.pdm.dev-dependencies]`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from envdoctor.errors import LockError
from envdoctor.locks import constraints
from envdoctor.locks.files import read_bytes
from envdoctor.locks.text import is_name, normalised
from envdoctor.locks.toml import Document, Table, table_of, text_of, texts_of, unique

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
DEV = "dev"
"""The group that Poetry's `dev-dependencies` are."""


@dataclass(frozen=True, slots=True)
class Wish:
    """One requirement of a project."""

    name: str
    """Normalised."""
    constraint: str = "*"
    """Poetry's or PEP 440's; `*` for any."""
    marker: str | None = None
    extras: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    """As in LockedDependency: `extra:NAME`, `group:NAME`."""

    @property
    def text(self) -> str:
        """The requirement as PEP 508 writes it; of alternatives the first."""
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        found = constraints.alternatives(self.constraint) or ("",)
        specifiers = found[0] if len(found) == 1 else ""
        return f"{self.name}{extras}{specifiers}" + (f" ; {self.marker}" if self.marker else "")


@dataclass(frozen=True, slots=True)
class Project:
    """One pyproject.toml."""

    name: str | None
    wishes: tuple[Wish, ...]
    groups: tuple[str, ...] = ()
    """Its dependency groups, normalised; extras are none."""
    optional_groups: tuple[str, ...] = ()
    """Those that Poetry installs on request only."""


def beside(lock: str) -> Project | None:
    """Read the pyproject.toml beside a lock, None if there is none that can be read."""
    path = os.path.join(os.path.dirname(os.path.abspath(lock)), "pyproject.toml")
    try:
        return parse(Document.parse(path, read_bytes(path)).top)
    except LockError:
        return None


def parse(top: Table) -> Project:
    """Gather what a project asks for; PEP 621 goes before Poetry's own tables, as it does for Poetry."""
    project, poetry = table_of(top, "project"), table_of(table_of(top, "tool"), "poetry")
    pdm = table_of(table_of(top, "tool"), "pdm")
    groups = table_of(poetry, "group")
    optional = (normalised(name) for name in groups if table_of(groups, name).get("optional") is True)
    name = text_of(project, "name") or text_of(poetry, "name")
    old = (DEV,) if table_of(poetry, "dev-dependencies") else ()
    named = (*table_of(top, "dependency-groups"), *table_of(pdm, "dev-dependencies"), *groups, *old)
    wishes = (*_standard(project, top), *_of_pdm(pdm), *of_poetry(top))
    return Project(normalised(name) if name else None, wishes, unique(map(normalised, named)), tuple(optional))


def of_pep508(text: str, when: tuple[str, ...] = ()) -> Wish | None:
    """Read a requirement (PEP 508), None if it is none."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        requirement = Requirement(text)
    except (InvalidRequirement, RecursionError):
        return None
    extras = tuple(sorted(map(normalised, requirement.extras)))
    marker = str(requirement.marker) if requirement.marker is not None else None
    return Wish(normalised(requirement.name), str(requirement.specifier) or "*", marker, extras, when)


def _all(texts: Iterable[str], when: tuple[str, ...] = ()) -> Iterator[Wish]:
    yield from (wish for text in texts if (wish := of_pep508(text, when)) is not None)


def _standard(project: Table, top: Table) -> Iterator[Wish]:
    yield from _all(texts_of(project, "dependencies"))
    extras = table_of(project, "optional-dependencies")
    for extra in extras:
        yield from _all(texts_of(extras, extra), (f"extra:{normalised(extra)}",))
    groups = table_of(top, "dependency-groups")
    for group in groups:
        for text in _included(groups, group, frozenset()):
            yield from _all((text,), (f"group:{normalised(group)}",))


def _included(groups: Table, group: str, within: frozenset[str]) -> Iterator[str]:
    """Yield the requirements of a group, and of those that it includes."""
    entries = groups.get(group)
    for entry in entries if isinstance(entries, list) and group not in within else ():
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, dict) and isinstance(entry.get("include-group"), str):
            yield from _included(groups, entry["include-group"], within | {group})


def _of_pdm(pdm: Table) -> Iterator[Wish]:
    groups = table_of(pdm, "dev-dependencies")
    for group in groups:
        yield from _all(texts_of(groups, group), (f"group:{normalised(group)}",))


def of_poetry(top: Table) -> Iterator[Wish]:
    """Yield what Poetry's tables ask for; its `dependencies` say more of what PEP 621 asks for, where that does."""
    poetry = table_of(table_of(top, "tool"), "poetry")
    if "dependencies" not in table_of(top, "project"):
        yield from _own_of_poetry(poetry)
    tables = [(table_of(poetry, "dev-dependencies"), DEV)]
    groups = table_of(poetry, "group")
    tables += [(table_of(table_of(groups, group), "dependencies"), group) for group in groups]
    for table, group in tables:
        yield from (replace(wish, when=(f"group:{normalised(group)}",)) for wish in of_table(table))


def _own_of_poetry(poetry: Table) -> Iterator[Wish]:
    """Yield what the project itself needs, by its extras where only those need it."""
    extras = table_of(poetry, "extras")
    brought = {normalised(extra): set(map(_name_in, texts_of(extras, extra))) for extra in extras}
    for wish in of_table(table_of(poetry, "dependencies")):
        asking = tuple(f"extra:{extra}" for extra, names in brought.items() if wish.name in names)
        if asking or not wish.when:
            yield replace(wish, when=asking if wish.when else ())


def _name_in(text: str) -> str:
    match = _NAME.match(text)
    return normalised(match[0]) if match else ""


def of_table(dependencies: Table) -> Iterator[Wish]:
    """Read a `dependencies` table as Poetry writes it, in pyproject.toml and in its lock; `when` says `optional`."""
    for name, value in dependencies.items():
        if normalised(name) != "python" and is_name(name):
            for item in value if isinstance(value, list) else (value,):
                yield _of_value(normalised(name), item)


def _of_value(name: str, value: object) -> Wish:
    if isinstance(value, str):
        return Wish(name, value)
    table = value if isinstance(value, dict) else {}
    platform = text_of(table, "platform")
    markers = (
        text_of(table, "markers"),
        constraints.python_marker(text_of(table, "python") or "*"),
        f'sys_platform == "{platform}"' if platform and platform.isalnum() else None,
    )
    return Wish(
        name,
        text_of(table, "version") or "*",
        conjunction(markers),
        tuple(map(normalised, texts_of(table, "extras"))),
        ("optional",) if table.get("optional") is True else (),
    )


def conjunction(markers: Iterable[str | None]) -> str | None:
    """Join markers that must all hold."""
    found = [marker for marker in markers if marker]
    return " and ".join(f"({marker})" for marker in found) if len(found) > 1 else found[0] if found else None
