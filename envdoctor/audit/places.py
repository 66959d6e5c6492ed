"""Where in a lock the words of a finding stand: line and column."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from shlex import quote

from envdoctor.errors import LockError
from envdoctor.locks import lines
from envdoctor.locks.files import read_bytes
from envdoctor.model import Finding, Outcome

AGAIN = "envdoctor lock compile IN -o FILE"
"""How a rule says that a lock is to be made again."""
WITHIN = 2000
"""Lines below its package in which words are looked for: one package of a universal lock has hundreds of files."""

Place = tuple[str, int, str]
"""File, the line it is known to be near (0 for none), and the words."""


def asked(outcomes: Iterable[Outcome]) -> list[Place]:
    """Return what is to be looked for."""
    found = (finding for outcome in outcomes for finding in (*outcome.findings, *outcome.muted))
    return list(dict.fromkeys(place for finding in found if (place := _place(finding)) is not None))


def look(places: Sequence[Place]) -> Mapping[Place, tuple[int, int]]:
    """Read the files and return line and column of the words, both from 1; what is not found is left out."""
    texts = {file: _lines(file) for file in {file for file, _, _ in places}}
    found = ((place, _position(texts[place[0]], place[1], place[2])) for place in places)
    return {place: position for place, position in found if position is not None}


def placed(
    outcomes: Iterable[Outcome], found: Mapping[Place, tuple[int, int]], names: Mapping[str, str]
) -> tuple[Outcome, ...]:
    """Return the outcomes with lines and columns in their evidence, and files under the names they were called by."""
    return tuple(
        replace(
            outcome,
            findings=tuple(_with(finding, found, names) for finding in outcome.findings),
            muted=tuple(_with(finding, found, names) for finding in outcome.muted),
        )
        for outcome in outcomes
    )


def filled(outcomes: Iterable[Outcome], command: str, path: str) -> tuple[Outcome, ...]:
    """Put the command that made the lock into the steps that ask for it; it is to be run in the lock's directory."""
    if not command.startswith(AGAIN.partition(" IN ")[0]):
        return tuple(outcomes)
    folder = os.path.dirname(path)
    whole = f"(cd {quote(folder)} && {command})" if folder else command
    return tuple(
        replace(outcome, findings=tuple(_filled(finding, whole) for finding in outcome.findings))
        for outcome in outcomes
    )


def _filled(finding: Finding, command: str) -> Finding:
    steps = tuple(step.removesuffix(AGAIN) + command if step.endswith(AGAIN) else step for step in finding.remedy)
    return replace(finding, remedy=steps)


def _place(finding: Finding) -> Place | None:
    file, line, text = (finding.evidence.get(key) for key in ("file", "line", "text"))
    return (str(file), int(line or 0), str(text)) if file and text else None


def _with(finding: Finding, found: Mapping[Place, tuple[int, int]], names: Mapping[str, str]) -> Finding:
    place = _place(finding)
    line, column = found.get(place, (0, 0)) if place else (0, 0)
    at = {"line": line, "column": column} if line else {}
    file = str(finding.evidence.get("file", ""))
    name = names.get(file, file)
    subject = name if finding.subject == file else finding.subject
    return replace(finding, subject=subject, evidence={**finding.evidence, "file": name, **at})


def _lines(path: str) -> list[str]:
    try:
        text, _ = lines.decode(read_bytes(path), path)
    except LockError:
        return []
    return text.split("\n")


def _position(text: Sequence[str], line: int, words: str) -> tuple[int, int] | None:
    start = max(line - 1, 0)
    for number in range(start, min(start + WITHIN, len(text))):
        at = text[number].find(words)
        if at >= 0:
            return number + 1, at + 1
    return None
