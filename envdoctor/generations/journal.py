"""What was done to an environment, a JSON line an event, each on the disk before the next step is taken."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from envdoctor.errors import EnvDoctorError
from envdoctor.generations.layout import Layout
from envdoctor.system.host import write_all
from envdoctor.system.reading import regular

Event = Literal["begin", "complete", "failed", "gap", "switched", "collected"]
LIMIT = 16 << 20
"""Bytes; a rebuild writes a kilobyte."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line."""

    event: Event
    at: str
    """RFC 3339, UTC."""
    name: str
    """Generation that it is about."""
    detail: Mapping[str, Any] = field(default_factory=dict)

    def said(self, key: str) -> str:
        """Return a detail that is text; "" if there is none."""
        value = self.detail.get(key)
        return value if isinstance(value, str) else ""


def write(layout: Layout, event: Event, name: str, now: datetime, **detail: object) -> None:
    """Append a line and see it onto the disk. Raises EnvDoctorError if it cannot be written."""
    moment = now.replace(microsecond=0).isoformat().replace("+00:00", "Z")
    line = json.dumps({"event": event, "at": moment, "name": name, **detail}) + "\n"
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(layout.journal, flags, 0o666)
        try:
            write_all(descriptor, (_ended(descriptor) + line).encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise EnvDoctorError(f"{layout.journal}: cannot be written: {error.strerror or error}") from error


def _ended(descriptor: int) -> str:
    """Return what ends a last line that a crash cut off, "" if it is whole."""
    size = os.fstat(descriptor).st_size
    return "\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else ""


def read(layout: Layout) -> tuple[Entry, ...]:
    """Return all entries; a line that was cut off by a crash, or is none of ours, is passed over."""
    try:
        text = regular(layout.journal, LIMIT).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ()
    found = (_entry(line) for line in text.splitlines())
    return tuple(entry for entry in found if entry is not None)


def _entry(line: str) -> Entry | None:
    try:
        data = json.loads(line)
        event, moment, name = data.pop("event"), data.pop("at"), data.pop("name")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return None
    return Entry(event, str(moment), str(name), data)


def before(entries: Sequence[Entry], name: str) -> str | None:
    """Return what the link led to before it last led to a generation: the link's text; None if that is not told."""
    found = (entry for entry in reversed(entries) if entry.event == "switched" and entry.name == name)
    return next((entry.said("before") for entry in found), "") or None


def superseded(entries: Sequence[Entry], layout: Layout, name: str) -> str | None:
    """Return when the link last ceased to lead to a generation; None if that is not told."""
    text = layout.text(name)
    found = (entry for entry in reversed(entries) if entry.event == "switched" and entry.said("before") == text)
    return next((entry.at for entry in found), None)


def last_word(entries: Sequence[Entry], layout: Layout, name: str) -> int:
    """Return the number of the entry by which a generation was made, or last ceased to be active; -1 if none tells.

    Numbers tell which came later also where a clock was put back.
    """
    text = layout.text(name)
    found = (
        number
        for number, entry in enumerate(entries)
        if (entry.event == "switched" and entry.said("before") == text)
        or (entry.event == "complete" and entry.name == name)
    )
    return max(found, default=-1)


def moment(text: str) -> datetime | None:
    """Return the moment that an entry or a name tells; None if it is none: the file may hold anything."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
