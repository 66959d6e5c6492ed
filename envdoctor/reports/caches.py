"""The inventory of compile caches, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envdoctor.model import Report
from envdoctor.printable import moment_of, size_of
from envdoctor.reports import json as reports_json
from envdoctor.reports.text import INDENT, Style, body, spoken

SHOWN = 4
"""Makers and processes that are named of each sort."""
KINDS = ("aotautograd", "fxgraph", "triton", "py")


def as_json(document: Mapping[str, Any], report: Report) -> str:
    """Return it for programs: the inventory, and the findings of the cache probes as a check reports them."""
    judged = reports_json.as_dict(report)
    kept = {key: judged[key] for key in ("findings", "passed", "skipped", "crashed", "failed", "muted")}
    return json.dumps({**document, **kept}, indent=2, ensure_ascii=True) + "\n"


def as_text(document: Mapping[str, Any], report: Report, style: Style) -> str:
    """Return it for people: the caches, what they hold for each device, the marks, and what is wrong."""
    head = f"compile caches of {document['target']}" + (f", torch {document['torch']}" if document["torch"] else "")
    parts = [head]
    if document["problem"]:
        parts.append(f"{INDENT}{document['problem']}")
    there = [cache for cache in document["caches"] if cache["exists"] or cache["problem"]]
    parts += ["\n".join(_cache(cache, style)) for cache in there]
    gone = [cache for cache in document["caches"] if cache not in there]
    if gone:
        parts.append("\n".join(_line(cache["place"]["kind"], f"{_where(cache)} is not there", style) for cache in gone))
    by_device = list(_devices(document["counts"]))
    if by_device:
        parts.append("\n".join(["keys for this build:", *by_device]))
    if document["marks"]:
        parts.append("\n".join(["marks:", *_marks(document["marks"])]))
    return "\n\n".join([*parts, *body(report, style)]) + "\n"


def _line(label: str, text: str, style: Style) -> str:
    return style.wrap(text, f"{label:18}", " " * 18)


def _where(cache: Mapping[str, Any]) -> str:
    return f"{_path(cache)} ({cache['place']['why']})"


def _path(cache: Mapping[str, Any]) -> str:
    link = cache["access"]["link"]
    return f"{cache['place']['path']}{f' -> {link}' if link else ''}"


def _cache(cache: Mapping[str, Any], style: Style) -> Iterator[str]:
    yield _line(cache["place"]["kind"], _where(cache), style)
    lines = [cache["problem"]] if cache["problem"] else [_held(cache), *_made(cache), *_state(cache)]
    for line in lines:
        yield _line("", line, style)


def _held(cache: Mapping[str, Any]) -> str:
    keys = [f"{cache['keys'][kind]:,} {kind}" for kind in KINDS if cache["keys"].get(kind)]
    said = [f"{', '.join(keys)} keys"] if keys else []
    said.append(f"{cache['files']:,} files, {size_of(cache['size'])}")
    if cache["newest"] is not None:
        said.append(f"the youngest of {spoken(moment_of(cache['newest']) or '')}")
    if not cache["complete"]:
        said.append("not all of it was walked through")
    return "; ".join(said)


def _made(cache: Mapping[str, Any]) -> Iterator[str]:
    values: dict[str, list[str]] = {}
    for maker in cache["makers"]:
        values.setdefault(maker["what"], []).append(f"{maker['value']} ({maker['entries']:,})")
    said = [f"{what} {_some(items)}" for what, items in values.items() if what not in ("torch git", "torch key")]
    if said:
        yield f"made for {'; '.join(said)}" + (f"; {cache['unread']:,} were not read" if cache["unread"] else "")


def _state(cache: Mapping[str, Any]) -> Iterator[str]:
    access, mount = cache["access"], cache["mount"]
    if access["owner"] is not None:
        mounted = f", on {mount['point']} ({mount['kind']})" if mount else ""
        yield f"owner {access['owner']}, mode {access['mode']:04o}{mounted}"
    damage = cache["damage"]
    if damage["entries"] or not damage["complete"]:
        looked = "" if damage["complete"] else f" among the {damage['checked']:,} files that were looked at"
        yield f"{len(damage['entries']) or 'no'} damaged entries{looked}"
    if cache["users"]:
        yield "in use by " + _some(
            [f"pid {user['pid']} ({user['command']} of {user['user']})" for user in cache["users"]]
        )


def _some(items: Sequence[str]) -> str:
    more = f" and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
    return ", ".join(items[:SHOWN]) + more


def _devices(counts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for device in sorted({count["device"] for count in counts}, key=lambda name: (len(name), name)):
        mine = {count["kind"]: count["keys"] for count in counts if count["device"] == device}
        said = ", ".join(f"{mine[kind]:,} {kind}" for kind in KINDS if kind in mine)
        yield f"  {device or 'in all':16}{said}"


def _marks(marks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for device in sorted({mark["device"] for mark in marks}, key=lambda name: (len(name), name)):
        mine = [mark for mark in marks if mark["device"] == device]
        said = ", ".join(f"{mark['keys']:,} {mark['kind']}" for mark in mine)
        reached = spoken(moment_of(max(mark["reached_at"] for mark in mine)) or "")
        yield f"  {device or 'in all':16}{said}; reached {reached}"
