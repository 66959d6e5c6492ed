"""What one lock changes against another: for people, and as JSON (schema 1; keys are only ever added)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from envdoctor import __version__
from envdoctor.model import Lock, LockedPackage
from envdoctor.printable import printable, redact
from envdoctor.reports.text import Style
from envdoctor.review.aspects import Difference
from envdoctor.review.diff import KINDS, Change, Diff
from envdoctor.review.forks import Pins

SCHEMA = 1
TITLES = {
    "torch": "torch family",
    "cuda": "CUDA family",
    "direct": "direct: the project wants it itself",
    "transitive": "transitive",
    "unrecorded": "others: no lock says who wants them",
}
LISTED = 3
"""Names of those who want a package that one line lists."""
LONG = 160
"""Characters of a marker or of a list that one line shows."""
_COLOURS = {"major": "31;1", "other": "31;1", "hashes": "31;1", "minor": "33;1", "build": "33;1", "source": "33;1"}
_NO_STEP = frozenset(KINDS[KINDS.index("hashes") :])
_KIND_WIDTH, _NAME_WIDTH = 9, 28


def render(diff: Diff, style: Style | None = None) -> str:
    """Return the comparison as text."""
    style = style or Style()
    parts = ["\n".join(_head(diff, style))]
    for group, changes in groupby(diff.changes, key=lambda change: change.group):
        parts.append("\n".join([TITLES[group], *_group(tuple(changes), style)]))
    if diff.whole:
        parts.append("\n".join(["beside the pins", *(_line("", _said(found), style) for found in diff.whole)]))
    if diff.unread:
        parts.append("\n".join(["not compared", *(_line("", text, style) for text in diff.unread)]))
    return "\n\n".join(parts) + "\n"


def _head(diff: Diff, style: Style) -> Iterator[str]:
    counts = Counter(change.kind for change in diff.changes)
    said = [f"{counts[kind]:,} {kind}" for kind in KINDS if counts[kind]]
    said += [f"{len(diff.whole)} beside the pins"] if diff.whole else []
    yield style.paint("EQUAL", "32;1") if diff.equal else f"{style.paint('DIFFERENT', '33;1')}  {', '.join(said)}"
    for word, lock in (("old", diff.old), ("new", diff.new)):
        yield _safe(f"{word}  {lock.path}: {lock.format}, {_pins(lock):,} pins")


def _pins(lock: Lock) -> int:
    return sum(1 for package in lock.packages if package.name)


def _group(changes: Sequence[Change], style: Style) -> Iterator[str]:
    """Write the changes of a group; those that are alike in all but the name, in one line."""
    for kind, same in groupby(changes, key=lambda change: change.kind):
        folded: dict[str, list[Change]] = {}
        for change in same:
            alike = kind in _NO_STEP and not change.forked
            key = "; ".join(map(_said, change.differences)) if alike else f"{id(change)}"
            folded.setdefault(key, []).append(change)
        for said, alike_changes in folded.items():
            if len(alike_changes) > 1:
                names = ", ".join(change.name for change in alike_changes)
                yield _line(kind, f"{said}: {len(alike_changes)} packages: {names}", style)
            else:
                yield from _change(alike_changes[0], style)


def _change(change: Change, style: Style) -> Iterator[str]:
    old, new = _versions(change.old), _versions(change.new)
    versions = new if change.kind == "added" else old if old == new or change.kind == "removed" else f"{old} -> {new}"
    down = ", a downgrade" if change.down else ""
    wanted = f"  wanted by {_some(change.wanted_by)}" if change.wanted_by else ""
    yield _line(change.kind, f"{change.name:{_NAME_WIDTH}} {versions}{down}{wanted}", style)
    if change.forked and not any(difference.what == "marker" for difference in change.differences):
        yield from (_line("", f"for {_cut(marker)}", style) for marker in _markers(change))
    for difference in change.differences:
        yield _line("", _said(difference), style)


def _markers(change: Change) -> Iterable[str]:
    """Return the marker of a fork; none where several forks only compare as a set."""
    alone = len(change.old) < 2 and len(change.new) < 2
    return [pin.marker for pin in (change.new or change.old) if pin.marker] if alone else []


def _versions(pins: Pins) -> str:
    return ", ".join(dict.fromkeys(pin.version or pin.url or pin.source for pin in pins))


def _said(difference: Difference) -> str:
    """Write a difference as one phrase."""
    if difference.what == "hashes":
        return f"digests: {difference.note}"
    if difference.what in ("requires", "not understood"):
        signs = (("no longer ", difference.old), ("now ", difference.new))
        return f"{difference.what} " + "; ".join(f"{sign}{_cut(', '.join(each))}" for sign, each in signs if each)
    old, new = (_cut(", ".join(each)) or "none" for each in (difference.old, difference.new))
    return f"{difference.what} {old} -> {new}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def _cut(text: str) -> str:
    text = redact(text)
    return text if len(text) <= LONG else text[: LONG - 3] + "..."


def _line(kind: str, text: str, style: Style) -> str:
    first = f"  {style.paint(f'{kind:{_KIND_WIDTH}}', _COLOURS[kind]) if kind in _COLOURS else f'{kind:{_KIND_WIDTH}}'}"
    return style.wrap(_safe(text), first, " " * (2 + _KIND_WIDTH + 2))


def _safe(text: str) -> str:
    return printable(redact(text))


def render_json(diff: Diff) -> str:
    """Return the comparison as JSON text."""
    return json.dumps(as_dict(diff), indent=2, ensure_ascii=True) + "\n"


def as_dict(diff: Diff) -> dict[str, Any]:
    """Return the comparison as JSON values."""
    return {
        "schema": SCHEMA,
        "envdoctor": __version__,
        "old": _lock(diff.old),
        "new": _lock(diff.new),
        "equal": diff.equal,
        "changes": [_change_dict(change) for change in diff.changes],
        "beside_the_pins": [_difference(difference) for difference in diff.whole],
        "not_compared": [_safe(text) for text in diff.unread],
    }


def _lock(lock: Lock) -> dict[str, Any]:
    return {"path": _safe(lock.path), "format": lock.format, "sha256": lock.digest, "pins": _pins(lock)}


def _change_dict(change: Change) -> dict[str, Any]:
    return {
        "name": _safe(change.name),
        "group": change.group,
        "kind": change.kind,
        "downgrade": change.down,
        "old": [_pin(pin) for pin in change.old],
        "new": [_pin(pin) for pin in change.new],
        "differences": [_difference(difference) for difference in change.differences],
        "wanted_by": _safe_all(change.wanted_by),
    }


def _pin(pin: LockedPackage) -> dict[str, Any]:
    return {
        "version": pin.version and _safe(pin.version),
        "marker": pin.marker and _safe(pin.marker),
        "source": pin.source,
        "url": _safe(pin.url),
        "file": _safe(pin.file),
        "line": pin.line,
    }


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        "what": difference.what,
        "old": _safe_all(difference.old),
        "new": _safe_all(difference.new),
        "note": _safe(difference.note),
    }


def _safe_all(texts: Iterable[str]) -> list[str]:
    return [_safe(text) for text in texts]
