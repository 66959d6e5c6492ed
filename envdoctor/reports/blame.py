"""Why a package is there, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envdoctor.reports.installs import at, details, headline, joined, label, some
from envdoctor.reports.layout import Style

COLUMN = 13
SHOWN = 6
"""Requirers, chains and copies that are printed."""


def render(document: Mapping[str, Any], style: Style | None = None) -> str:
    """Return it as text."""
    style = style or Style()
    parts = (_requirers(document), _chains(document), _asked(document), _lock(document), _came(document))
    lines = [*_head(document, style)]
    for part in (*parts, _copies(document)):
        lines += _lines(part, style)
    lines += [style.wrap(f"FAILED {fact}: {reason}", "", "  ") for fact, reason in document["failed"].items()]
    return "\n".join(lines) + "\n"


def _lines(part: Iterator[tuple[str, str]], style: Style) -> Iterator[str]:
    for word, text in part:
        yield style.wrap(text, f"{word:{COLUMN}}", " " * (COLUMN + 2))


def _head(document: Mapping[str, Any], style: Style) -> Iterator[str]:
    target, active = document["target"], _active(document)
    versions = {pin["version"] for pin in document["pins"]}
    if active is None:
        said = f"{document['name']} is not installed, and the lock has it"
    else:
        said = f"{document['name']} {active['version'] or 'of unknown version'}"
        said += f" is not in the lock{_because(document)}" if document["foreign"] else ""
        if versions and active["version"] not in versions:
            said += f", where the lock has {joined(sorted(map(str, versions)))}{_because(document)}"
    yield style.paint(style.wrap(said, "", "  "), "1")
    compared = f", compared with {target['lock']}" if target["lock"] else ""
    yield style.wrap(f"{target['prefix']}{compared}", "", "  ")
    if document["snapshot"]:
        yield style.wrap(f"snapshot {document['snapshot']}, taken on {document['host']}", "", "  ")
    yield ""


def _because(document: Mapping[str, Any]) -> str:
    cause = document["cause"]
    return f", on account of {cause}" if cause and cause != document["name"] else ""


def _active(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return next((copy for copy in document["copies"] if copy["imported"]), None)


def _requirers(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    links: Sequence[Mapping[str, Any]] = document["required_by"]
    if not links:
        yield "required by", "nothing that is installed"
    ranked = sorted(links, key=lambda link: link["satisfied"])
    for number, link in enumerate(ranked[:SHOWN]):
        broken = "" if link["satisfied"] else ", which is not met"
        yield "" if number else "required by", f"{label(link)}: {link['requires']}{broken}"
    if len(links) > SHOWN:
        yield "", f"and {len(links) - SHOWN} more (all of them: --format json)"


def _chains(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    chains = [chain for chain in document["chains"] if len(chain) > 1]
    for number, chain in enumerate(chains[:SHOWN]):
        names = [label(link) for link in chain]
        yield "" if number else "for", f"{' > '.join(names)} > {document['name']}"
    left = len(chains) - SHOWN + document["more_chains"]
    if left > 0:
        yield "", f"and {left} more"


def _asked(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    active = _active(document)
    if active is None:
        return
    if active["url"]:
        yield "asked for", f"from {active['url']}{' (editable)' if active['editable'] else ''}"
    elif active["requested"] and active["installer"] == "uv":
        yield "asked for", "unknown: uv says so of all that it installs"
    elif active["requested"]:
        yield "asked for", f"by name or in a requirements file, as {active['installer'] or 'its installer'} recorded"
    elif active["installer"] == "pip":
        yield "asked for", "not by name: it came because something required it"
    else:
        yield "asked for", "unknown: its installer records no such thing"


def _lock(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if document["unlocked"]:
        yield "in the lock", f"unknown: {document['unlocked']}"
        return
    if not document["pins"]:
        yield "in the lock", "no"
    for pin in document["pins"]:
        place = pin["file"].rpartition("/")[2] + (f":{pin['line']}" if pin["line"] else "")
        via = f", for {some(pin['via'], 4)}" if pin["via"] else ""
        chosen = "" if pin["wanted"] else ", by a group or extra that is not chosen"
        yield "in the lock", f"{pin['version'] or 'without a version'} ({place}){via}{chosen}"


def _came(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    active, batch = _active(document), document["batch"]
    if active is None:
        return
    if batch is None:
        why = document["timeless"] or "it lies outside the environment's own site-packages"
        yield "came", f"unknown when: {why}"
        return
    yield "came", at(active["installed_at"] or batch["at"])
    yield "in company", headline(batch)
    for word, text in details(batch):
        yield "", f"- {word}: {text}"
    if document["later"]:
        yield "overwritten", f"some of its files, by {joined(document['later'])}"


def _copies(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    copies = document["copies"]
    for number, copy in enumerate(copies[:SHOWN] if len(copies) > 1 else ()):
        used = ", which is imported" if copy["imported"] else ""
        yield "" if number else "copies", f"{copy['version'] or 'unknown version'} in {copy['metadata']}{used}"
    for problem in [problem for copy in copies for problem in copy["problems"]][:SHOWN]:
        yield "damaged", problem
