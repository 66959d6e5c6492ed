"""What one lock holds: for people, and as JSON (schema 1; keys are only ever added)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from envdoctor import __version__
from envdoctor.model import Lock, LockProblem
from envdoctor.printable import printable, redact, size_of
from envdoctor.reports.text import Style
from envdoctor.review.summary import Download, Entry, Hashed, Summary

SCHEMA = 1
PROBLEMS = 20
"""Problems that the text lists; JSON has them all."""
LISTED = 6
"""Names that one line lists."""


def render(summary: Summary, style: Style | None = None, *, packages: bool = False) -> str:
    """Return the summary as text, with a table of the packages if asked for."""
    style = style or Style()
    lines = [style.wrap(_safe(f"{what:17}{said}"), "", " " * 17) for what, said in _facts(summary) if said]
    lines = [_safe(f"{summary.lock.path}: {summary.lock.format}"), *lines]
    parts = ["\n".join(lines)]
    if summary.lock.problems:
        parts.append("\n".join(_problems(summary.lock)))
    if packages:
        parts.append("\n".join(_table(summary.entries)))
    return "\n\n".join(parts) + "\n"


def _facts(summary: Summary) -> Iterator[tuple[str, str]]:
    lock = summary.lock
    header = lock.header
    made_for = [f"Python {header.python}" if header.python else "", header.platform]
    yield "made by", ", for ".join(filter(None, (header.tool, ", ".join(filter(None, made_for)))))
    yield "command", header.command
    yield "project", lock.project or ""
    yield "pins", _pins(summary)
    yield "sources", _counts(summary.sources)
    yield "hashed", _hashed(summary.hashed)
    yield "download", _download(summary.download)
    yield "requires-python", lock.requires_python or ""
    yield "environments", "; ".join(lock.environments)
    yield "extras", ", ".join(lock.extras)
    yield "groups", ", ".join(f"{group} (default)" if group in lock.default_groups else group for group in lock.groups)
    for index, count in summary.indexes.items():
        yield "index", index if count is None else f"{index} ({count:,} pins)"


def _pins(summary: Summary) -> str:
    if not summary.forked:
        return f"{summary.pins:,}"
    return f"{summary.pins:,} of {summary.names:,} names; several for {_some(summary.forked)}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items())


def _hashed(hashed: Hashed) -> str:
    if not hashed.pins:
        return "nothing that could be"
    partly = f", {hashed.partly:,} in part" if hashed.partly else ""
    by = ", ".join(
        name if count == hashed.whole else f"{name} ({count:,})" for name, count in hashed.algorithms.items()
    )
    return f"{hashed.whole:,} of {hashed.pins:,}{partly}" + (f" by {by}" if by else "")


def _download(download: Download | None) -> str:
    if download is None:
        return "unknown: no sizes are recorded"
    least, most = size_of(download.least), size_of(download.most)
    said = least if least == most else f"{least} to {most} (the smallest and the largest file of each)"
    unknown = f"; unknown for {download.unknown:,}" if download.unknown else ""
    return f"{said} for {download.known:,} names{unknown}"


def _some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def _problems(lock: Lock) -> Iterator[str]:
    yield f"not understood ({len(lock.problems):,})"
    for problem in lock.problems[:PROBLEMS]:
        yield _safe(f"  {_place(lock, problem)}: {problem.message}")
    if len(lock.problems) > PROBLEMS:
        yield f"  and {len(lock.problems) - PROBLEMS:,} more (--format json has all)"


def _place(lock: Lock, problem: LockProblem) -> str:
    file = problem.file or lock.path
    return f"{file}:{problem.line}" if problem.line else file


def _table(entries: Iterable[Entry]) -> Iterator[str]:
    rows = [("package", "version", "source", "hashes", "size", "wanted by"), *map(_row, entries)]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row in rows:
        yield "  ".join([*(f"{cell:{width}}" for cell, width in zip(row, widths, strict=False)), row[5]]).rstrip()


def _row(entry: Entry) -> tuple[str, ...]:
    pin = entry.pin
    low, high = (size_of(size) for size in entry.size) if entry.size else ("", "")
    size = low if low == high else f"{low} to {high}"
    cells = (pin.name, pin.version or "", pin.source, str(entry.digests or ""), size, _some(entry.wanted_by))
    return tuple(map(_safe, cells))


def _safe(text: str) -> str:
    return printable(redact(text))


def render_json(summary: Summary, *, packages: bool = False) -> str:
    """Return the summary as JSON text, with the packages if asked for."""
    return json.dumps(as_dict(summary, packages=packages), indent=2, ensure_ascii=True) + "\n"


def as_dict(summary: Summary, *, packages: bool = False) -> dict[str, Any]:
    """Return the summary as JSON values."""
    lock, hashed, download = summary.lock, summary.hashed, summary.download
    found = {
        "schema": SCHEMA,
        "envdoctor": __version__,
        "path": lock.path,
        "format": lock.format,
        "sha256": lock.digest,
        "made_by": {name: getattr(lock.header, name) for name in ("tool", "command", "python", "platform", "line")},
        "project": lock.project,
        "pins": summary.pins,
        "names": summary.names,
        "forked": list(summary.forked),
        "sources": dict(summary.sources),
        "hashed": {
            "of": hashed.pins,
            "whole": hashed.whole,
            "partly": hashed.partly,
            "algorithms": dict(hashed.algorithms),
        },
        "download": download
        and {"least": download.least, "most": download.most, "known": download.known, "unknown": download.unknown},
        "requires_python": lock.requires_python,
        "environments": list(lock.environments),
        "extras": list(lock.extras),
        "groups": list(lock.groups),
        "default_groups": list(lock.default_groups),
        "indexes": [{"url": index, "pins": count} for index, count in summary.indexes.items()],
        "problems": [{"file": p.file or lock.path, "line": p.line, "message": p.message} for p in lock.problems],
    }
    cleaned: dict[str, Any] = _clean(found | ({"packages": list(map(_package, summary.entries))} if packages else {}))
    return cleaned


def _package(entry: Entry) -> dict[str, Any]:
    pin = entry.pin
    return {
        "name": pin.name,
        "version": pin.version,
        "marker": pin.marker,
        "source": pin.source,
        "url": pin.url,
        "file": pin.file,
        "line": pin.line,
        "digests": entry.digests,
        "size": entry.size and {"least": entry.size[0], "most": entry.size[1]},
        "direct": entry.direct,
        "wanted_by": list(entry.wanted_by),
    }


def _clean(value: Any) -> Any:  # noqa: ANN401 - JSON values
    """Make every text of JSON values safe to print."""
    if isinstance(value, str):
        return _safe(value)
    if isinstance(value, dict):
        return {_safe(key): _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list) else value
