"""One install batch as lines for people: what `timeline` and `blame` share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

LISTED = 8
"""Names of one kind that a line lists."""
HEADED = 3
"""Names that a sentence lists."""
SECONDS = 60
"""An installation that took less is told by its beginning alone."""


def at(moment: str | None) -> str:
    """Return an RFC 3339 time in local time with its zone: `3 June 2026 at 14:22:07 UTC+02:00`."""
    local = _local(moment)
    return "at no known time" if local is None else f"{local.day} {local:%B %Y at %H:%M:%S} {zone(local)}"


def day(moment: str | None) -> str:
    """Return it to the minute, as a person would say it: `3 June 2026 at 14:22`."""
    local = _local(moment)
    return "a day unknown" if local is None else f"{local.day} {local:%B %Y at %H:%M}"


def zone(local: datetime) -> str:
    """Return `UTC`, or `UTC+02:00`."""
    offset = f"{local:%z}"
    return "UTC" if offset in ("", "+0000") else f"UTC{offset[:3]}:{offset[3:5]}"


def _local(moment: str | None) -> datetime | None:
    try:
        return None if moment is None else datetime.fromisoformat(moment).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def label(item: Mapping[str, Any]) -> str:
    """Return `name version`."""
    return f"{item['name']} {item['version']}" if item["version"] else str(item["name"])


def some(items: Sequence[str], most: int = LISTED) -> str:
    """List the first few: `a, b and 3 more`."""
    if len(items) <= most:
        return ", ".join(items)
    return f"{', '.join(items[:most])} and {len(items) - most} more"


def joined(items: Sequence[str], most: int = HEADED) -> str:
    """List them as a sentence does: `a, b and c`."""
    if len(items) > most or len(items) < 2:
        return some(items, most)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def move(item: Mapping[str, Any]) -> str:
    """Return `name 1 -> 2`."""
    return f"{item['name']} {item['was']} -> {item['now']}"


def headline(event: Mapping[str, Any]) -> str:
    """Say in one sentence what an installation did."""
    installer = event["installer"] or "an unknown installer"
    total = len({item["name"] for item in (*event["roots"], *event["added"], *event["moved"])})
    if event["locked"] == total > HEADED:
        return f"{installer} installed {_count(total)}, all as the lock has them"
    moved = [] if event["first"] else [item for item in event["moved"] if _recorded(item)]
    names = [label(item) for item in _odd_first(event, "roots") if item["name"] not in {m["name"] for m in moved}]
    if not names and moved:
        with_it = f", and added {_count(len(event['added']))}" if event["added"] else ""
        return f"{installer} moved {joined([move(item) for item in moved])}{with_it}"
    done = [f"added {_count(len(event['added']))}"] if event["added"] and names else []
    done += [f"moved {joined([move(item) for item in moved])}"] if moved else []
    named = joined(names or [label(item) for item in _odd_first(event, "added")])
    return f"{installer} installed {named}" + (f", which {' and '.join(done)}" if done else "")


def _recorded(item: Mapping[str, Any]) -> bool:
    """Tell whether a lock or a seal says what there was."""
    return item["by"] in ("lock", "seal")


def _count(number: int) -> str:
    return f"{number} package{'' if number == 1 else 's'}"


def details(event: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (word, text) of what an installation brought, moved and overwrote."""
    if len(event["roots"]) > HEADED or event["locked"] > HEADED:
        yield "roots", some([label(root) for root in _odd_first(event, "roots")])
    if event["roots"] and event["added"]:
        yield "added", some([label(item) for item in _odd_first(event, "added")])
    for by, word in (("lock", "the lock"), ("seal", "the seal")):
        moved = [move(item) for item in event["moved"] if item["by"] == by]
        if moved:
            yield f"unlike {word}" if event["first"] else f"moved from {word}", some(moved)
    for item in event["moved"]:
        if not _recorded(item):
            yield "unmet", f"{item['by']} requires {item['name']} {item['was']}, and this is {item['now']}"
    for item in event["overwrote"]:
        files = "a file" if len(item["paths"]) == 1 else f"{len(item['paths'])} files"
        yield "overwrote", f"{files} of {item['of']} (by {item['name']}): {some(item['paths'], HEADED)}"


def _odd_first(event: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    """Return the roots or the added: what serves first, then what else the lock does not have."""
    odd = dict.fromkeys(event["foreign"], 1) | dict.fromkeys(event["stacks"], 0)
    return sorted(event[key], key=lambda item: odd.get(item["name"], 2))
