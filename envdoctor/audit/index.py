"""What pip's indexes list of the locked releases."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

from envdoctor.audit import answers, pip, simple
from envdoctor.audit.answers import Answers
from envdoctor.audit.asking import WORKERS, ask
from envdoctor.errors import EnvDoctorError
from envdoctor.system.host import Host
from envdoctor.system.web import UnreadError, Web, without_login
from envdoctor.views.lock_online import Listed, ListedFile, Pin

ABSENT = "not on any index that pip is configured for"
LATE = "no answer in time"
FORBIDDEN = 403


@dataclass(frozen=True, slots=True)
class Looked:
    """What came of it."""

    indexes: tuple[str, ...]
    listed: Mapping[Pin, Listed]
    unknown: Mapping[Pin, str]


@dataclass(slots=True)
class Index:
    """One index, and how it behaved so far."""

    address: str
    """With its credentials."""
    answered: int = 0
    failed: int = 0
    problem: UnreadError | None = None

    @property
    def plain(self) -> str:
        """Its address without credentials."""
        return without_login(self.address)[0]

    @property
    def name(self) -> str:
        """What to call it in a sentence."""
        return urlsplit(self.plain).netloc or self.plain

    @property
    def local(self) -> bool:
        """Tell a directory, which is asked each time."""
        return self.address.startswith("file:")

    @property
    def dead(self) -> UnreadError | None:
        """Why it is asked no more: as many questions as are asked at once have failed, and none was answered."""
        return self.problem if self.failed >= WORKERS and not self.answered else None


Found = tuple[ListedFile, ...] | UnreadError | None
"""What one index lists of a project: files, why that is not known, or that it has no such project."""


@dataclass(slots=True)
class Library:
    """All indexes, with what is kept of their answers."""

    indexes: tuple[Index, ...]
    web: Web
    kept: Answers
    ends: float
    found: dict[str, list[Found]] = field(default_factory=dict)

    def search(self, names: Iterable[str]) -> None:
        """Ask all indexes for all projects."""
        wanted = list(names)
        answered = ask(wanted, self._everywhere, self.ends)
        for name in wanted:
            found = answered.get(name, UnreadError(LATE))
            self.found[name] = [found] * len(self.indexes) if isinstance(found, UnreadError) else found

    def _everywhere(self, name: str) -> list[Found]:
        return [self._at(index, name) for index in self.indexes]

    def _at(self, index: Index, name: str) -> Found:
        if not index.local and (kept := self.kept.get(index.plain, name)):
            index.answered += 1
            return kept[0]
        if index.dead:
            return index.dead
        try:
            page = self.web.get(f"{index.address}/{name}/", simple.ACCEPT, self.ends)
            files = simple.files(page, name) if page is not None else None
        except UnreadError as error:
            said = UnreadError(f"{index.name}: {error}", status=error.status, otherwise=error.otherwise)
            index.failed, index.problem = index.failed + 1, said
            return said
        index.answered += 1
        if not index.local:
            self.kept.put(index.plain, name, files)
        return files

    def release(self, pin: Pin) -> tuple[Listed | None, UnreadError | None]:
        """Return what is listed of a release, and why that may not be all."""
        found = self.found[pin[0]]
        files = simple.merged(file for some in found if isinstance(some, tuple) for file in some)
        problems = [
            some
            for index, some in zip(self.indexes, found, strict=True)
            if isinstance(some, UnreadError) and not _is_absence(index, some)
        ]
        listed = simple.release(pin[1], files)
        if problems:
            return listed, problems[0]
        return listed, None if listed else UnreadError(ABSENT)


def _is_absence(index: Index, error: UnreadError) -> bool:
    """Tell an index that hides what it has not (file stores answer 403) from one that lets nobody in."""
    return error.status == FORBIDDEN and index.answered > 0


def look_up(pins: Sequence[Pin], host: Host, seconds: float) -> Looked:
    """Look all pins up within so many seconds. Raises EnvDoctorError if there is no index to ask."""
    ends = time.monotonic() + seconds
    command = pip.command(host)
    if command is None:
        raise EnvDoctorError("there is no pip here to say which index to ask: install one beside envdoctor or on PATH")
    told = pip.configured(command, host)
    library = Library(tuple(map(Index, told.indexes)), Web(told.access), answers.of(host), ends)
    library.kept.sweep()
    library.search(sorted({name for name, _ in pins}))
    found = {pin: library.release(pin) for pin in pins}
    listed = {pin: release for pin, (release, _) in found.items() if release is not None}
    unknown = {pin: problem for pin, (_, problem) in found.items() if problem is not None}
    barred = [pin for pin, problem in unknown.items() if problem.otherwise and pin not in listed]
    by_pip = _by_pip(command, barred, host, ends)
    listed |= {pin: answer for pin, answer in by_pip.items() if isinstance(answer, Listed)}
    reasons = {pin: _both(problem, by_pip.get(pin)) for pin, problem in unknown.items()}
    return Looked(tuple(index.plain for index in library.indexes), listed, reasons)


def _both(problem: UnreadError, of_pip: Listed | UnreadError | None) -> str:
    return f"{problem}, {of_pip}" if isinstance(of_pip, UnreadError) else str(problem)


def _by_pip(command: Sequence[str], pins: Sequence[Pin], host: Host, ends: float) -> Mapping[Pin, Listed | UnreadError]:
    """Have pip find what only pip may; if it fails at the first, it will at the others."""
    if not pins:
        return {}
    one = partial(_taken, command, host=host, ends=ends)
    first = ask(pins[:1], one, ends)
    if not isinstance(first.get(pins[0]), Listed):
        return first
    return {**first, **ask(pins[1:], one, ends, os.cpu_count() or 2)}


def _taken(command: Sequence[str], pin: Pin, host: Host, ends: float) -> Listed:
    return pip.taken(command, pin, host, max(0.1, ends - time.monotonic()))
