"""What the lock was compiled from has changed since.

Why it matters: whoever asks for a package in the input expects to get it. A rebuild goes by the lock, and gives what
was asked for before.

What to do: compile the lock again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from envdoctor.facts.lock_source import Input, LockSource, Wanted
from envdoctor.model import Finding, Lock, LockedPackage, LockProblem, Severity
from envdoctor.pointing import fault
from envdoctor.versions import satisfies
from envdoctor.views.lock_orphans import LEFT_OUT
from envdoctor.views.requirements import parsed

REMEDY = ("compile the lock again: envdoctor lock compile IN -o FILE",)

UNSAFE = ("distribute", "pip", "setuptools")
"""What pip-compile pins with --allow-unsafe alone (pip-tools 7.6.2, piptools/utils.py)."""


def check(lock: Lock, lock_source: LockSource) -> Iterable[Finding]:
    """Compare each input with the digest that the header records, or, where it records none, with the pins."""
    recorded = {each.name: each.digest for each in lock.header.inputs}
    for item in lock_source.inputs:
        if item.name not in recorded:
            yield from _unmet(lock, item)
        elif recorded[item.name] != item.digest:
            yield fault(
                Severity.WARNING,
                lock,
                LockProblem(lock.header.line, "", text=recorded[item.name]),
                f"{item.name} has changed since the lock was compiled from it",
                text=recorded[item.name],
                input=item.path,
                remedy=REMEDY,
            )


def _unmet(lock: Lock, item: Input) -> Iterator[Finding]:
    """Report what an input asks for and the lock does not have, or has in a release that is not meant."""
    for wanted in item.wanted:
        if _is_judged(lock, item, wanted):
            pins = [package for package in lock.packages if package.name == wanted.name]
            said = f"{item.name} asks for {wanted.text}"
            place: dict[str, Any] = {"input": item.path, "wanted": wanted.text, "input_line": wanted.line}
            if not pins and not _is_left_out(lock, wanted.name):
                said = f"{said}, which the lock does not hold"
                yield fault(Severity.WARNING, lock, None, said, subject=wanted.name, remedy=REMEDY, **place)
            elif pins and not any(_is_meant(lock, pin, wanted) for pin in pins):
                said = f"{said}, and the lock holds {pins[0].version}"
                words = pins[0].version or ""
                yield fault(Severity.WARNING, lock, pins[0], said, text=words, remedy=REMEDY, **place)


def _is_judged(lock: Lock, item: Input, wanted: Wanted) -> bool:
    """Tell whether the lock must meet a wish: one for all environments; projects lock every extra and group."""
    own = {each.name for each in item.wanted if each.group == "project"}
    asked = not wanted.group or lock.format in ("uv", "poetry", "pipfile")
    return asked and wanted.name not in own and ";" not in wanted.text


def _is_left_out(lock: Lock, name: str) -> bool:
    """Tell whether the tool that made the lock does not write this name into it."""
    unsafe = lock.header.tool == "pip-compile" and name in UNSAFE
    return unsafe or any(option in lock.header.command for option in LEFT_OUT)


def _is_meant(lock: Lock, pin: LockedPackage, wanted: Wanted) -> bool:
    """Tell whether a pin is a release that an input asks for; an address, and what was overridden, is not compared."""
    requirement = parsed(wanted.text)
    if requirement is None or requirement.url or pin.version is None or "--override" in lock.header.command:
        return True
    return satisfies(pin.version, str(requirement.specifier))
