"""requirements.txt as a lock: every line pins one version, or names one file, commit or folder.

Order of reading as in pip 26.3 (req/req_file.py): decode, join continuations, strip comments, options, requirement
(PEP 508). `${VAR}` is not expanded. Included files are read below the lock's own directory only; constraint files
add no package and are not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from envdoctor.errors import LockError
from envdoctor.locks import files, lines, options, requirement
from envdoctor.locks.text import Fault, normalised, quoted
from envdoctor.locks.toml import unique
from envdoctor.model import Lock, LockedPackage, LockOption, LockProblem
from envdoctor.printable import redact

DEPTH = 8
"""Levels of includes that are followed."""
INCLUDES = 64
"""Files that one lock may include."""
_HOSTS = ("--index-url", "--pypi-url", "--extra-index-url", "--trusted-host")
"""Options whose value is an address or a host and never a path."""
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

    def file(self, data: bytes, name: str, chain: tuple[str, ...]) -> None:
        """Read one file; `name` is "" for the lock itself, `chain` the paths from the lock down to it."""
        text, problems = lines.decode(data, name)
        self.problems += problems
        for number, line in lines.logical_lines(text):
            self._line(line, number, name, chain)
            if len(self.problems) > PROBLEMS:
                raise LockError(name or self.path, f"is not a lock: more than {PROBLEMS} lines are no pins", number)

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
            self.packages.append(package.placed(number, name))

    def _include(self, target: str, chain: tuple[str, ...]) -> Iterable[Fault]:
        """Read an included file; return what kept it from being read."""
        said = f"include {quoted(target)} is not followed: "
        if "://" in target or "${" in target:
            why = "it is remote" if "://" in target else "it names an environment variable"
            yield Fault("escaping-include", said + why, target)
            return
        chain = tuple(map(os.path.realpath, chain))
        root = os.path.dirname(chain[0])
        real = files.below(root, os.path.join(os.path.dirname(chain[-1]), target))
        refused = self._refusal(real, chain)
        if real is None or refused is not None:
            rule, reason = refused or ("escaping-include", "")
            yield Fault(rule, said + reason, target)
        elif real not in self.seen:
            self.seen.add(real)
            try:
                data = files.read_bytes(real)
            except LockError as error:
                yield Fault("escaping-include", said + error.problem.split(";")[0], target)
            else:
                self.file(data, os.path.join(os.path.dirname(self.path), os.path.relpath(real, root)), (*chain, real))

    def _refusal(self, real: str | None, chain: tuple[str, ...]) -> tuple[str, str] | None:
        """Return the rule that an include breaks, and how."""
        if real is None:
            return "escaping-include", "it lies outside the lock's own directory"
        if real in chain:
            return "escaping-include", "it includes itself"
        if len(chain) > DEPTH:
            return "over-limit", f"it is more than {DEPTH} levels deep"
        full = len(self.seen) >= INCLUDES
        return ("over-limit", f"the lock includes more than {INCLUDES} files") if full else None


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
