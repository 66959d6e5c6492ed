"""The report for code hosts, which show it in a review: SARIF 2.1.0 (OASIS standard), one run.

What code hosts need beyond the standard is that of GitHub (its page "SARIF support for code scanning"): a rule has all
three descriptions, and every result a file and a line. The standard lets a result be about a thing that has no file,
and most of what `check` finds is; GitHub refuses the whole report for one of them ("locationFromSarifResult: expected
a physical location": microsoft/sarif-sdk#2694). Another place stands for it then, its first line, and the thing is
named beside it.

GitHub's `primaryLocationLineHash` is left to the upload, which works it out from the line and warns of one that differs
(src/fingerprints.ts of github/codeql-action). Where a place only stands for another, many results share that line:
they bring their own, or GitHub would take them for one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from os.path import join, normpath
from typing import Any
from urllib.parse import quote

from envdoctor import __version__
from envdoctor.model import Finding, Report
from envdoctor.printable import printable
from envdoctor.reports.places import Place, others_of, place_of, stand_in

VERSION = "2.1.0"
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
BASE = "%SRCROOT%"
"""The base of relative addresses. GitHub and CodeQL take this name for the root of the repository."""
FINGERPRINT = "ruleSubjectText/v1"
"""The digest of a result's rule, subject and text, and a count of those that are equal in one file."""
GITHUB = "primaryLocationLineHash"
"""By which GitHub tells the results of one rule in one file apart."""
FULL = 1024
"""Characters of a full description, GitHub's limit."""
REDACTED = "****"
"""What stands in the place of a secret (printable.redact)."""
_NOT_AS_WRITTEN = re.compile(r"\*{4}|\.{3}|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\U[0-9a-f]{8}")
"""Marks of a text that was redacted, cut or made printable, so that its length is not that in the file."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A finding, the rule it breaks, and where."""

    rule: str
    finding: Finding
    place: Place | None
    """What the finding itself names."""
    shown: Place | None
    """The same, or what stands for it."""
    muted: bool

    @property
    def order(self) -> tuple[Place, str]:
        """What results are sorted by."""
        return self.shown or Place(""), self.rule


def render(report: Report, docs: Mapping[str, str] | None = None, folder: str = "") -> str:
    """Return the report as SARIF: ASCII alone.

    `docs` are the docstrings of the probes by id. `folder` is the absolute path of the working directory: files below
    it are named relative to it, others in full. If it is "", paths stay as the caller named them.
    """
    rules = list(dict.fromkeys(outcome.probe for outcome in report.outcomes))
    places = {rule: index for index, rule in enumerate(rules)}
    driver = {
        "name": "envdoctor",
        "version": __version__,
        "rules": [_rule(rule, (docs or {}).get(rule, "")) for rule in rules],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(report, places)],
        "originalUriBaseIds": {BASE: {"description": _message("The directory that envdoctor was started in.")}},
        "columnKind": "unicodeCodePoints",
        "redactionTokens": [REDACTED],
        "results": list(_results(report, places, folder)),
    }
    return json.dumps({"$schema": SCHEMA, "version": VERSION, "runs": [run]}, indent=2, ensure_ascii=True) + "\n"


def _message(text: str) -> dict[str, str]:
    """Return a text as a message: braces stand for placeholders, and `[x](y)` for a link, which nothing here means."""
    shown = "\n".join(map(printable, text.split("\n")))
    return {"text": shown.replace("{", "{{").replace("}", "}}").replace("](", "] (")}


def _rule(rule: str, doc: str) -> dict[str, Any]:
    paragraphs = [" ".join(part.split()) for part in (doc or rule).split("\n\n")]
    return {
        "id": printable(rule),
        "shortDescription": _message(paragraphs[0]),
        "fullDescription": _message(" ".join(paragraphs[:2])[:FULL]),
        "help": _message((doc or rule).strip()),
    }


def _invocation(report: Report, places: Mapping[str, int]) -> dict[str, Any]:
    return {
        "executionSuccessful": not report.incomplete,
        "endTimeUtc": report.taken_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "toolExecutionNotifications": list(_notifications(report, places)),
    }


def _notifications(report: Report, places: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Yield what was not judged: an error where the doctor failed at it, a note where there was nothing to judge."""
    for outcome in report.outcomes:
        rule = _reference(outcome.probe, places)
        if outcome.crashed:
            yield {"level": "error", "message": _message(f"crashed: {outcome.crashed}"), "associatedRule": rule}
        if outcome.skipped:
            level = "error" if outcome.skipped.failed else "note"
            yield {"level": level, "message": _message(outcome.skipped.reason), "associatedRule": rule}
    for fact, reason in report.failed.items():
        yield {"level": "error", "message": _message(f"{reason}: {fact}")}


def _reference(rule: str, places: Mapping[str, int]) -> dict[str, Any]:
    return {"id": printable(rule), "index": places[rule]}


def _results(report: Report, places: Mapping[str, int], folder: str) -> Iterator[dict[str, Any]]:
    """Yield every finding, muted or not, file by file and line by line."""
    by = printable(report.config or "the configuration")
    seen: Counter[tuple[str, str]] = Counter()
    for item in sorted(_found(report), key=lambda item: item.order):
        digest, file = _digest(item), item.shown.file if item.shown else ""
        seen[file, digest] += 1
        mark = f"{digest}:{seen[file, digest]}"
        yield {
            "ruleId": printable(item.rule),
            "ruleIndex": places[item.rule],
            "level": item.finding.severity.label,
            "message": _message(_said(item.finding)),
            "locations": [_location(item, folder)],
            "partialFingerprints": {FINGERPRINT: mark} if item.place else {FINGERPRINT: mark, GITHUB: mark},
            # the standard wants this property in every result or in none
            "suppressions": [_suppression(by)] if item.muted else [],
        } | _related(item, folder)


def _found(report: Report) -> Iterator[_Found]:
    for outcome in report.outcomes:
        for findings, muted in ((outcome.findings, False), (outcome.muted, True)):
            for finding in findings:
                place = place_of(finding)
                yield _Found(outcome.probe, finding, place, place or stand_in(finding, report), muted)


def _digest(item: _Found) -> str:
    """Return what stays the same when the line moves, and when the file is called by another path."""
    place, subject = item.place or Place(""), item.finding.subject
    parts = "\0".join([item.rule, "" if subject == place.file else subject, place.text])
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()


def _suppression(by: str) -> dict[str, str]:
    return {"kind": "external", "status": "accepted", "justification": f"muted by {by}"}


def _said(finding: Finding) -> str:
    """Return the sentence, and below it the steps, as the report for people words them."""
    return "\n".join([finding.message, *_steps(finding.remedy)])


def _steps(steps: Sequence[str]) -> Iterator[str]:
    for number, step in enumerate(steps):
        yield step if step.startswith("or ") else f"{'then' if number else 'next'}: {step}"


def _location(item: _Found, folder: str) -> dict[str, Any]:
    """Return the place in the file; for a finding that names none, the thing at fault and what stands for its place."""
    named = [] if item.place else [{"fullyQualifiedName": printable(item.finding.subject)}]
    place = _physical(item.shown, folder) if item.shown else {}
    return place | ({"logicalLocations": named} if named else {})


def _related(item: _Found, folder: str) -> dict[str, Any]:
    """Return the further lines that a finding is about, each once, if there are any."""
    others = others_of(item.finding, item.place) if item.place else ()
    places: list[dict[str, Any]] = []
    for other in others:
        place = _physical(other, folder)
        places += [] if place in places else [place]
    return {"relatedLocations": places} if places else {}


def _physical(place: Place, folder: str) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": _artifact(place.file, folder), "region": _region(place)}}


def _artifact(file: str, folder: str) -> dict[str, str]:
    """Return the address of a file: relative below the folder, otherwise absolute."""
    path = normpath(join(folder, printable(file)))
    inside = f"{folder.rstrip('/')}/" if folder else ""
    if inside and path.startswith(inside):
        path = path[len(inside) :] or "."
    if path.startswith("/"):
        return {"uri": f"file:///{quote(path.lstrip('/'))}"}
    return {"uri": quote(path), "uriBaseId": BASE}


def _region(place: Place) -> dict[str, Any]:
    """Return the part of the line that the text is; the whole line, or the first one, where no more is known."""
    region: dict[str, Any] = {"startLine": place.line or 1}
    if place.line and place.column:
        region["startColumn"] = place.column
        if place.text and not _NOT_AS_WRITTEN.search(printable(place.text)):
            region["endColumn"] = place.column + len(place.text)
    if place.line and place.text:
        region["snippet"] = {"text": printable(place.text)}
    return region
