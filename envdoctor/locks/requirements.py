"""requirements.txt as a lock: every line pins one version, or names one file, commit or folder.

Order of reading as in pip 26.3 (req/req_file.py): decode, join continuations, strip comments, options, requirement
(PEP 508). `${VAR}` is not expanded. Included files are read below the lock's own directory only; constraint files
add no package and are not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from envdoctor.errors import LockError
from envdoctor.locks import comments, files, lines, options, requirement
from envdoctor.locks.text import Fault, normalised, quoted
from envdoctor.locks.toml import unique
from envdoctor.model import Lock, LockedPackage, LockHeader, LockOption, LockProblem
from envdoctor.printable import redact

DEPTH = 8
"""Levels of includes that are followed."""
INCLUDES = 64
"""Files that one lock may include."""
_CONFLICT = re.compile(r"^(?:[<|>]{7}(?: .*)?|={7})\r?$", re.MULTILINE)
"""The lines that git writes around both sides of a merge conflict."""
_HOSTS = ("--index-url", "--pypi-url", "--extra-index-url", "--find-links", "--trusted-host")
"""Options whose value is an address or a host; of a path nothing stands before an `@`."""
_USER = re.compile(r"^[^\s/@]*@")
PROBLEMS = 1000
"""Faulty lines after which a file is taken for something else than a lock."""


def parse(path: str, data: bytes) -> Lock:
    """Read a requirements lock. Raises LockError if nothing in it is pinned; other faults become `problems`."""
    reading = _Reading(path)
    reading.file(data, "", (path,))
    if not reading.packages:
        first = next((f"; line {p.line}: {p.message}" for p in reading.problems), "")
        raise LockError(path, f"is not a lock: no line pins a version (NAME==VERSION){first}")
    return Lock(
        path=path,
        format="requirements",
        packages=tuple(reading.packages),
        indexes=unique(reading.indexes),
        problems=tuple(reading.problems),
        options=tuple(reading.given),
        header=reading.header,
    )


@dataclass(slots=True)
class _Reading:
    """What has been gathered so far from a lock and its includes."""

    path: str
    packages: list[LockedPackage] = field(default_factory=list)
    problems: list[LockProblem] = field(default_factory=list)
    indexes: list[str] = field(default_factory=list)
    given: list[LockOption] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    notes: dict[str, Mapping[int, comments.Note]] = field(default_factory=dict)
    """File -> first line of a requirement -> what is noted of it."""
    header: LockHeader = field(default_factory=LockHeader)

    def file(self, data: bytes, name: str, chain: tuple[str, ...]) -> None:
        """Read one file; `name` is "" for the lock itself, `chain` the paths from the lock down to it."""
        text, problems = lines.decode(data, name)
        self.problems += problems
        self.notes[name] = comments.notes(text, lines.joined(text))
        if not name:
            self.header = comments.header(text)
        for number, line in lines.logical_lines(self._merged(text, name)):
            if len(self.packages) >= files.PINS:
                said = f"the lock pins more than {files.PINS:,} packages; what follows is not read"
                self.problems.append(LockProblem(number, said, name, "over-limit"))
                return
            if len(line) > files.LINE:
                said = f"a line of {len(line):,} characters is not read; the limit is {files.LINE:,}"
                self.problems.append(LockProblem(number, said, name, "over-limit"))
                continue
            self._line(line, number, name, chain)
            if len(self.problems) > PROBLEMS:
                raise LockError(name or self.path, f"is not a lock: more than {PROBLEMS} lines are no pins", number)

    def _merged(self, text: str, name: str) -> str:
        """Return the text without the marks of a merge conflict: both sides of it are read."""
        mark = _CONFLICT.search(text) if "<<<<<<<" in text or ">>>>>>>" in text else None
        if mark is None:
            return text
        line = text.count("\n", 0, mark.start()) + 1
        said = "the lock holds an unresolved merge conflict"
        self.problems.append(LockProblem(line, said, name, "over-limit", mark[0].strip()))
        return _CONFLICT.sub("", text)

    def _line(self, line: str, number: int, name: str, chain: tuple[str, ...]) -> None:
        body, rest = options.split(line)
        given, problems = options.parse(rest) if rest else ([], [])
        subject = ""
        if body:
            package, more = requirement.parse(body, [option.value for option in given if option.kind == "hash"])
            problems += more
            self._keep(package, number, name)
            subject = normalised(package.name) if package is not None else _named(body)
            given = [option for option in given if option.kind != "hash"]
        self.given += [
            LockOption(option.name, _hidden(option), number, name, subject, _text(option))
            for option in given
            if option.kind != "hash"
        ]
        for option in given if not body else ():
            problems += self._option(option, number, name, chain)
        self.problems += [
            LockProblem(number, fault.message, name, fault.rule, redact(fault.text), subject) for fault in problems
        ]

    def _option(self, option: options.Option, number: int, name: str, chain: tuple[str, ...]) -> Iterable[Fault]:
        if option.kind == "include":
            return self._include(option.value, chain)
        if option.kind == "constraint":
            return self._constraint(option.value, chain)
        if option.kind == "editable":
            package, problems = requirement.parse_editable(option.value, os.path.dirname(os.path.realpath(chain[0])))
            self._keep(package, number, name)
            return problems
        if option.kind == "index":
            self.indexes.append(_hidden(option))
        lost = Fault("malformed-hash", "a hash without a requirement before it", option.value)
        return [lost] if option.kind == "hash" else ()

    def _keep(self, package: requirement.Draft | None, number: int, name: str) -> None:
        if package is not None:
            self.packages.append(package.placed(number, name, self.notes[name].get(number, comments.NOTHING)))

    def _include(self, target: str, chain: tuple[str, ...]) -> Iterable[Fault]:
        """Read an included file; return what is wrong with it, or kept it from being read."""
        chain = tuple(map(os.path.realpath, chain))
        real, fault = self._resolved(target, chain)
        if fault is not None:
            yield fault
        if real and real not in self.seen:
            self.seen.add(real)
            try:
                data = files.read_bytes(real)
            except LockError as error:
                yield _refused(target, error.problem.split(";")[0])
            else:
                place = os.path.relpath(real, os.path.dirname(chain[0]))
                self.file(data, os.path.join(os.path.dirname(self.path), place), (*chain, real))

    def _constraint(self, target: str, chain: tuple[str, ...]) -> Iterable[Fault]:
        """Return what is wrong with a constraint file's place; it adds no package and is not read."""
        _, fault = self._resolved(target, tuple(map(os.path.realpath, chain)))
        return () if fault is None else (fault,)

    def _resolved(self, target: str, chain: tuple[str, ...]) -> tuple[str, Fault | None]:
        """Return the real path of a file that a line names, "" if it is not to be read, and what is wrong with it."""
        if "://" in target or "${" in target:
            return "", _refused(target, "it is remote" if "://" in target else "it names an environment variable")
        real = files.below(os.path.dirname(chain[0]), os.path.join(os.path.dirname(chain[-1]), target))
        if real is None:
            return "", _refused(target, "it lies outside the lock's own directory")
        if real in chain:
            return "", _refused(target, "it includes itself")
        if len(chain) > DEPTH:
            return "", _refused(target, f"it is more than {DEPTH} levels deep", "over-limit")
        full = len(self.seen) >= INCLUDES and real not in self.seen
        if full:
            return "", _refused(target, f"the lock includes more than {INCLUDES} files", "over-limit")
        said = f"include {quoted(target)} is an absolute path, which is another file on another machine"
        return real, Fault("escaping-include", said, target) if os.path.isabs(target) else None


def _refused(target: str, why: str, rule: str = "escaping-include") -> Fault:
    return Fault(rule, f"include {quoted(target)} is not followed: {why}", target)


def _hidden(option: options.Option) -> str:
    """Return an option's value without secrets, also where somebody forgot the `https://` of an address."""
    value = redact(option.value)
    return _USER.sub("****@", value) if option.name in _HOSTS else value


def _text(option: options.Option) -> str:
    """Return an option as it stands there; of one with a secret its name alone."""
    safe = _hidden(option) == option.value and redact(option.written) == option.written
    return option.written if safe else re.split("[ =]", option.written, maxsplit=1)[0]


def _named(text: str) -> str:
    """Return the name that a line begins with, normalised; "" if it begins with none."""
    found = re.match(r"[A-Za-z0-9][\w.-]*", text)
    return normalised(found[0]) if found else ""
