"""requirements.txt as a lock: every line pins one version, or names one file, commit or folder.

Order of reading as in pip 26.3 (req/req_file.py): decode, join continuations, strip comments, options, requirement
(PEP 508). `${VAR}` is not expanded. Included files are read below the lock's own directory only; constraint files
add no package and are not read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from envdoctor.errors import LockError
from envdoctor.locks import comments, files, lines, options, requirement
from envdoctor.locks.text import quoted
from envdoctor.locks.toml import unique
from envdoctor.model import Lock, LockedPackage, LockHeader, LockProblem
from envdoctor.printable import redact

DEPTH = 8
"""Levels of includes that are followed."""
INCLUDES = 64
"""Files that one lock may include."""
PROBLEMS = 1000
"""Faulty lines after which a file is taken for something else than a lock."""


def parse(path: str, data: bytes) -> Lock:
    """Read a requirements lock. Raises LockError if nothing in it is pinned; other faults become `problems`."""
    reading = _Reading(path)
    reading.file(data, "", (os.path.realpath(path),))
    if not reading.packages:
        first = next((f"; line {p.line}: {p.message}" for p in reading.problems), "")
        raise LockError(path, f"is not a lock: no line pins a version (NAME==VERSION){first}")
    return Lock(
        path=path,
        format="requirements",
        packages=tuple(reading.packages),
        indexes=unique(redact(index) for index in reading.indexes),
        problems=tuple(reading.problems),
        header=reading.header,
    )


@dataclass(slots=True)
class _Reading:
    """What has been gathered so far from a lock and its includes."""

    path: str
    packages: list[LockedPackage] = field(default_factory=list)
    problems: list[LockProblem] = field(default_factory=list)
    indexes: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    notes: dict[str, Mapping[int, comments.Note]] = field(default_factory=dict)
    """File -> first line of a requirement -> what is noted of it."""
    header: LockHeader = field(default_factory=LockHeader)

    def file(self, data: bytes, name: str, chain: tuple[str, ...]) -> None:
        """Read one file; `name` is "" for the lock itself, `chain` the real paths from the lock down to it."""
        text, problems = lines.decode(data, name)
        self.problems += problems
        self.notes[name] = comments.notes(text, lines.joined(text))
        if not name:
            self.header = comments.header(text)
        for number, line in lines.logical_lines(text):
            self._line(line, number, name, chain)
            if len(self.problems) > PROBLEMS:
                raise LockError(name or self.path, f"is not a lock: more than {PROBLEMS} lines are no pins", number)

    def _line(self, line: str, number: int, name: str, chain: tuple[str, ...]) -> None:
        body, rest = options.split(line)
        given, problems = options.parse(rest) if rest else ([], [])
        if body:
            package, more = requirement.parse(body, [option.value for option in given if option.kind == "hash"])
            problems += more
            self._keep(package, number, name)
            given = []
        for option in given:
            problems += self._option(option, number, name, chain)
        self.problems += [LockProblem(number, problem, name) for problem in problems]

    def _option(self, option: options.Option, number: int, name: str, chain: tuple[str, ...]) -> Iterable[str]:
        if option.kind == "include":
            return self._include(option.value, chain)
        if option.kind == "editable":
            package, problems = requirement.parse_editable(option.value, os.path.dirname(chain[0]))
            self._keep(package, number, name)
            return problems
        if option.kind == "index":
            self.indexes.append(option.value)
        return ["a hash without a requirement before it"] if option.kind == "hash" else ()

    def _keep(self, package: requirement.Draft | None, number: int, name: str) -> None:
        if package is not None:
            self.packages.append(package.placed(number, name, self.notes[name].get(number, comments.NOTHING)))

    def _include(self, target: str, chain: tuple[str, ...]) -> Iterable[str]:
        """Read an included file; return what kept it from being read."""
        fault = f"include {quoted(target)} is not followed: "
        if "://" in target or "${" in target:
            yield fault + ("it is remote" if "://" in target else "it names an environment variable")
            return
        root = os.path.dirname(chain[0])
        real = files.below(root, os.path.join(os.path.dirname(chain[-1]), target))
        reason = self._refusal(real, chain)
        if real is None or reason is not None:
            yield fault + (reason or "")
        elif real not in self.seen:
            self.seen.add(real)
            try:
                data = files.read_bytes(real)
            except LockError as error:
                yield fault + error.problem.split(";")[0]
            else:
                self.file(data, os.path.join(os.path.dirname(self.path), os.path.relpath(real, root)), (*chain, real))

    def _refusal(self, real: str | None, chain: tuple[str, ...]) -> str | None:
        if real is None:
            return "it lies outside the lock's own directory"
        if real in chain:
            return "it includes itself"
        if len(chain) > DEPTH:
            return f"it is more than {DEPTH} levels deep"
        return f"the lock includes more than {INCLUDES} files" if len(self.seen) >= INCLUDES else None
