"""The report of a warm-up, as text and as JSON: what became of each device, and why one is not warm."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envdoctor.printable import size_of
from envdoctor.reports.caches import KINDS
from envdoctor.reports.layout import INDENT, Style, steps

DEVICE, STATE, SECONDS, KEYS = 10, 17, 11, 7
"""Columns of the table: where names end, where states end, and what figures take."""


def as_json(document: Mapping[str, Any]) -> str:
    """Return it for programs."""
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def as_text(document: Mapping[str, Any], style: Style) -> str:
    """Return it for people."""
    parts = [_head(document, style), "\n".join(_table(document["devices"], style)), *_faults(document, style)]
    parts += [*_cold(document, style)]
    notes = list(_notes(document, style))
    return "\n\n".join([*parts, *(["\n".join(notes)] if notes else [])]) + "\n"


def _head(document: Mapping[str, Any], style: Style) -> str:
    devices = document["devices"]
    good = sum(device["warm"] for device in devices)
    word = style.paint("WARM", "32;1") if document["warm"] else style.paint("NOT WARM", "31;1")
    of = f"{good} of {len(devices)} device{'s' if len(devices) > 1 else ''} warm and proven from a fresh process"
    torch = f": torch {document['torch']}" if document["torch"] else ""
    return "\n".join(
        [
            style.wrap(of, f"{word}  ", "  "),
            style.wrap(f"{document['target']}{torch}", "", "  "),
            style.wrap(_what(document), "", "  "),
            style.wrap(f"cache {document['cache']} ({document['why']}), {document['seconds']:.1f} s", "", "  "),
        ]
    )


def _what(document: Mapping[str, Any]) -> str:
    if document["entry"]:
        return f"entry {document['entry']}"
    return f"script {document['script']}" if document["script"] else f"command {document['command']}"


def _table(devices: Sequence[Mapping[str, Any]], style: Style) -> Iterator[str]:
    """Yield a line a device: seconds of both runs, keys of AOTAutograd's, and what is new."""
    yield f"{'':{STATE}}{'warm-up':>{SECONDS}}{'proof':>{SECONDS}}{'keys':>{KEYS}}   new keys"
    for device in devices:
        state = f"{device['device']:{DEVICE}}{'ok' if device['warm'] else 'FAILED':{STATE - DEVICE}}"
        keys = "?" if device["keys"] is None else str(device["keys"].get("aotautograd", 0))
        proof = _seconds(device["proof"]) if device["proof"] else "-"
        row = f"{state}{_seconds(device['warm_up']):>{SECONDS}}{proof:>{SECONDS}}{keys:>{KEYS}}   "
        text = style.wrap(_new(device), row, " " * len(row))
        yield text[:DEVICE] + style.paint(text[DEVICE:STATE], "32" if device["warm"] else "31;1") + text[STATE:]


def _seconds(run: Mapping[str, Any]) -> str:
    return f"{run['seconds']:.1f} s"


def _new(device: Mapping[str, Any]) -> str:
    if device["already_warm"]:
        return "none: it was warm"
    if device["new_keys"] is None:
        return "not counted"
    return ", ".join(f"{device['new_keys'][kind]} {kind}" for kind in KINDS if kind in device["new_keys"]) or "none"


def _faults(document: Mapping[str, Any], style: Style) -> Iterator[str]:
    for device in document["devices"]:
        for fault in device["faults"]:
            yield _failed(f"{device['device']}: {fault['said']}", fault["remedy"], style)


def _failed(said: str, remedy: Sequence[str], style: Style) -> str:
    text = style.wrap(said, INDENT, INDENT)[len(INDENT) :]
    return "\n".join([style.paint(f"{'FAILED':9}", "31;1") + text, *steps(remedy, style)])


def _cold(document: Mapping[str, Any], style: Style) -> Iterator[str]:
    """Name the devices that stay cold: those that a mark covers fail, the others are said in one line."""
    missing = [each for each in document["cold"] if each["counts"]]
    if missing:
        said = ", ".join(f"{each['device']} has {each['keys']} of {each['mark']} keys" for each in missing)
        numbers = ",".join(each["device"].removeprefix("cuda:") for each in missing)
        advice = (f"warm them as well: --devices {numbers}", "if it is meant to be so: envdoctor cache accept")
        yield _failed(f"not all devices were warmed, and a mark covers the others: {said}", advice, style)
    others = [each["device"] for each in document["cold"] if not each["counts"]]
    if others:
        yield style.wrap(f"{', '.join(others)} {'stays' if len(others) == 1 else 'stay'} cold", f"{'note':9}", INDENT)


def _notes(document: Mapping[str, Any], style: Style) -> Iterator[str]:
    if document["unknown"]:
        yield style.wrap(f"keys were not compared: {document['unknown']}", "", "  ")
    saved = document["saved"]
    if saved:
        word = "saved" if saved["written"] else "as it was saved already"
        yield style.wrap(f"{word} in {saved['path']} ({size_of(saved['bytes'])})", "", "  ")
    if document["not_saved"]:
        yield style.wrap(f"not saved: {document['not_saved']}", "", "  ")
    if document["state"]:
        yield style.wrap(f"no mark was raised: {document['state']}", "", "  ")
